//===- Qd.td - everything the dialect is made of ----------------------------===//

#ifndef QD_TD
#define QD_TD

include "QdAlgo.td"
include "QdGrid.td"
include "QdMath.td"
include "QdSimt.td"

#endif // QD_TD
