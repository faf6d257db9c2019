/* A small language: an expression over arrays of floats, as a kernel that is built with MLIR's C API.
 *
 *     arrays cpu 'sqrt(x * x + y * y) / 2' x=3,5,8 y=4,12,15
 *
 * prints the elements: 2.5 6.5 8.5. The first word is the device. Numbers, names of arrays, + - * /, a sign before,
 * parentheses, sqrt(), abs(), min(,) and max(,) are what there is. Each operation of the kernel knows its place in the
 * expression, and so do the compiler's diagnostics. */
#include "qd_mlir.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

/* An array that the command line gives. */
typedef struct {
  const char *name;
  int length; /* of the name */
  float *values;
  uint64_t size;
} Array;

typedef struct {
  const char *text, *at; /* the expression, and how far it has been read */
  MlirContext context;
  MlirType f32, index, array;
  MlirBlock block; /* where operations go */
  MlirValue element; /* the index of the element */
  Array arrays[MOST];
  MlirValue values[MOST]; /* the kernel's argument of each, and of the result */
  int count;
} Frontend;

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "arrays: %s\n", what);
  exit(1);
}

static void check(qd_status status) {
  if (status != QD_OK) fail(qd_error_message());
}

static _Noreturn void fail_at(Frontend *f, const char *at, const char *what) {
  fprintf(stderr, "expression:1:%d: error: %s\n", (int)(at - f->text) + 1, what);
  exit(1);
}

static MlirStringRef text(const char *text) { return mlirStringRefCreateFromCString(text); }

static MlirNamedAttribute named(Frontend *f, const char *name, MlirAttribute attribute) {
  return mlirNamedAttributeGet(mlirIdentifierGet(f->context, text(name)), attribute);
}

/* Appends an operation, and returns it. A null type is no result; a null region none. */
static MlirOperation append(Frontend *f, const char *name, int count, const MlirValue *operands, MlirType result,
                            int attribute_count, const MlirNamedAttribute *attributes, MlirRegion region) {
  unsigned column = (unsigned)(f->at - f->text) + 1;
  MlirLocation location = mlirLocationFileLineColGet(f->context, text("expression"), 1, column);
  MlirOperationState state = mlirOperationStateGet(text(name), location);
  mlirOperationStateAddOperands(&state, count, operands);
  if (!mlirTypeIsNull(result)) mlirOperationStateAddResults(&state, 1, &result);
  mlirOperationStateAddAttributes(&state, attribute_count, attributes);
  if (!mlirRegionIsNull(region)) mlirOperationStateAddOwnedRegions(&state, 1, &region);
  MlirOperation made = mlirOperationCreate(&state);
  mlirBlockAppendOwnedOperation(f->block, made);
  return made;
}

static MlirValue apply(Frontend *f, const char *name, int count, const MlirValue *operands, MlirType type) {
  MlirRegion none = {NULL};
  return mlirOperationGetResult(append(f, name, count, operands, type, 0, NULL, none), 0);
}

static MlirValue constant(Frontend *f, MlirType type, MlirAttribute value) {
  MlirRegion none = {NULL};
  MlirNamedAttribute attribute = named(f, "value", value);
  return mlirOperationGetResult(append(f, "arith.constant", 0, NULL, type, 1, &attribute, none), 0);
}

static void skip(Frontend *f) {
  while (*f->at == ' ') ++f->at;
}

static bool take(Frontend *f, char what) {
  skip(f);
  if (*f->at != what) return false;
  ++f->at;
  return true;
}

static MlirValue sum(Frontend *f);

static MlirValue call(Frontend *f, const char *name, int length) {
  static const struct { const char *name, *operation; int operands; } FUNCTIONS[] = {
      {"sqrt", "math.sqrt", 1}, {"abs", "math.absf", 1}, {"min", "arith.minimumf", 2}, {"max", "arith.maximumf", 2}};
  for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; ++i) {
    if ((int)strlen(FUNCTIONS[i].name) != length || strncmp(FUNCTIONS[i].name, name, (size_t)length) != 0) continue;
    MlirValue operands[2];
    for (int operand = 0; operand < FUNCTIONS[i].operands; ++operand) {
      if (operand > 0 && !take(f, ',')) fail_at(f, f->at, "expected ',' and another operand");
      operands[operand] = sum(f);
    }
    if (!take(f, ')')) fail_at(f, f->at, "expected ')'");
    return apply(f, FUNCTIONS[i].operation, FUNCTIONS[i].operands, operands, f->f32);
  }
  fail_at(f, name, "there is no such function");
}

/* A number, a name, a call, or what is in parentheses, with signs before it. */
static MlirValue atom(Frontend *f) {
  skip(f);
  const char *begin = f->at;
  if (take(f, '-')) {
    MlirValue operand = atom(f);
    return apply(f, "arith.negf", 1, &operand, f->f32);
  }
  if (take(f, '(')) {
    MlirValue inner = sum(f);
    if (!take(f, ')')) fail_at(f, f->at, "expected ')'");
    return inner;
  }
  if (isdigit((unsigned char)*begin)) {
    double value = strtod(begin, (char **)&f->at);
    return constant(f, f->f32, mlirFloatAttrDoubleGet(f->context, f->f32, value));
  }
  while (isalnum((unsigned char)*f->at)) ++f->at;
  int length = (int)(f->at - begin);
  if (length == 0) fail_at(f, begin, "expected a number, a name or '('");
  if (take(f, '(')) return call(f, begin, length);
  for (int i = 0; i < f->count; ++i) {
    if (f->arrays[i].length != length || strncmp(f->arrays[i].name, begin, (size_t)length) != 0) continue;
    MlirValue operands[2] = {f->values[i], f->element};
    return apply(f, "memref.load", 2, operands, f->f32);
  }
  fail_at(f, begin, "there is no such array");
}

/* Operands between two signs that bind alike, from the left. */
static MlirValue chain(Frontend *f, MlirValue (*operand)(Frontend *), const char *signs, const char *const *operations) {
  MlirValue left = operand(f);
  for (;;) {
    int sign = take(f, signs[0]) ? 0 : take(f, signs[1]) ? 1 : -1;
    if (sign < 0) return left;
    MlirValue both[2] = {left, operand(f)};
    left = apply(f, operations[sign], 2, both, f->f32);
  }
}

static MlirValue product(Frontend *f) {
  return chain(f, atom, "*/", (const char *[]){"arith.mulf", "arith.divf"});
}

static MlirValue sum(Frontend *f) { return chain(f, product, "+-", (const char *[]){"arith.addf", "arith.subf"}); }

/* The expression as the body of qd.grid.for_each in a kernel that takes the arrays and the result. */
static MlirModule build(Frontend *f) {
  MlirLocation unknown = mlirLocationUnknownGet(f->context);
  MlirType types[MOST + 1];
  MlirLocation locations[MOST + 1];
  int64_t any = mlirShapedTypeGetDynamicSize();
  f->f32 = mlirF32TypeGet(f->context);
  f->index = mlirIndexTypeGet(f->context);
  f->array = mlirMemRefTypeContiguousGet(f->f32, 1, &any, mlirAttributeGetNull());
  for (int i = 0; i <= f->count; ++i) types[i] = f->array, locations[i] = unknown;

  MlirModule module = mlirModuleCreateEmpty(unknown);
  MlirRegion kernel = mlirRegionCreate();
  MlirBlock body = mlirBlockCreate(f->count + 1, types, locations);
  mlirRegionAppendOwnedBlock(kernel, body);
  for (int i = 0; i <= f->count; ++i) f->values[i] = mlirBlockGetArgument(body, i);
  MlirType function = mlirFunctionTypeGet(f->context, f->count + 1, types, 0, NULL);
  MlirNamedAttribute attributes[2] = {named(f, "sym_name", mlirStringAttrGet(f->context, text("expression"))),
                                      named(f, "function_type", mlirTypeAttrGet(function))};
  MlirType none = {NULL};
  f->block = mlirModuleGetBody(module);
  append(f, "qd.grid.kernel", 0, NULL, none, 2, attributes, kernel);

  f->block = body;
  MlirValue of_result[2] = {f->values[f->count], constant(f, f->index, mlirIntegerAttrGet(f->index, 0))};
  MlirValue length = apply(f, "memref.dim", 2, of_result, f->index);
  MlirRegion loop = mlirRegionCreate(), no_region = {NULL};
  MlirBlock each = mlirBlockCreate(1, &f->index, &unknown);
  mlirRegionAppendOwnedBlock(loop, each);
  append(f, "qd.grid.for_each", 1, &length, none, 0, NULL, loop);

  f->block = each;
  f->element = mlirBlockGetArgument(each, 0);
  MlirValue value = sum(f);
  skip(f);
  if (*f->at != 0) fail_at(f, f->at, "expected an operator or the end");
  MlirValue stored[3] = {value, f->values[f->count], f->element};
  append(f, "memref.store", 3, stored, none, 0, NULL, no_region);
  return module;
}

/* x=1,2,3 */
static void read_array(Frontend *f, char *word) {
  char *values = strchr(word, '=');
  if (values == NULL || values == word || f->count == MOST) fail("expected arrays, at most 16, as in x=1,2,3");
  Array *array = &f->arrays[f->count++];
  *array = (Array){word, (int)(values - word), malloc(strlen(values) * sizeof(float)), 0};
  do {
    char *begin = values + 1;
    array->values[array->size++] = strtof(begin, &values);
    if (values == begin) fail("an array has something that is no number");
  } while (*values == ',');
  if (*values != 0 || array->size != f->arrays[0].size) fail("the arrays must be numbers, and equally many");
}

static qd_artifact *compile(MlirModule module, const qd_device *device) {
  qd_device_info info;
  qd_request *request;
  qd_artifact *artifact;
  qd_diagnostics *said;
  check(qd_device_describe(device, &info));
  check(qd_request_new(&request));
  check(qd_request_module(request, module));
  check(qd_request_target(request, info.target));
  qd_status compiled = qd_compile(request, NULL, &artifact, &said);
  size_t count = 0;
  check(qd_diagnostics_count(said, &count));
  for (size_t i = 0; i < count; ++i) {
    qd_diagnostic one;
    check(qd_diagnostics_get(said, i, &one));
    fprintf(stderr, "%s\n", one.text);
  }
  check(qd_diagnostics_free(said));
  check(qd_request_free(request));
  if (compiled != QD_OK) exit(1);
  return artifact;
}

static void evaluate(Frontend *f, const qd_device *device, const qd_artifact *artifact, float *result) {
  qd_executable *executable;
  qd_kernel *kernel;
  qd_stream *stream;
  qd_buffer *buffers[MOST + 1];
  qd_arg arguments[MOST + 1];
  uint64_t size = f->arrays[0].size;
  check(qd_load(device, artifact, &executable));
  check(qd_kernel_get(executable, "expression", &kernel));
  check(qd_stream_new(device, QD_PRIORITY_NORMAL, &stream));
  for (int i = 0; i <= f->count; ++i) {
    check(qd_buffer_new(stream, QD_F32, &size, 1, &buffers[i]));
    if (i < f->count) check(qd_buffer_write(buffers[i], stream, f->arrays[i].values, size * sizeof(float)));
    arguments[i] = qd_array(buffers[i]);
  }
  check(qd_launch(kernel, stream, arguments, (size_t)f->count + 1, NULL));
  check(qd_buffer_read(buffers[f->count], stream, result, size * sizeof(float)));
  for (int i = 0; i <= f->count; ++i) check(qd_buffer_free(buffers[i]));
  check(qd_stream_free(stream));
  check(qd_kernel_free(kernel));
  check(qd_executable_free(executable));
}

int main(int count, char **words) {
  if (count < 4) fail("usage: arrays DEVICE EXPRESSION NAME=NUMBER,NUMBER…");
  static Frontend f;
  check(qd_check_header());
  for (int i = 3; i < count; ++i) read_array(&f, words[i]);
  f.text = f.at = words[2];

  qd_device *device;
  check(qd_device_open(words[1], NULL, &device));
  f.context = qd_mlir_context_create();
  MlirModule module = build(&f);
  qd_artifact *artifact = compile(module, device);
  mlirModuleDestroy(module);
  mlirContextDestroy(f.context);

  float *result = malloc(f.arrays[0].size * sizeof(float));
  evaluate(&f, device, artifact, result);
  for (uint64_t i = 0; i < f.arrays[0].size; ++i) printf(i == 0 ? "%g" : " %g", result[i]);
  puts("");
  check(qd_artifact_free(artifact));
  check(qd_device_free(device));
  for (int i = 0; i < f.count; ++i) free(f.arrays[i].values);
  free(result);
  return 0;
}
