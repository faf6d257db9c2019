//! Layout of a directed acyclic graph: layers from top to bottom, each node below all its
//! dependencies, and in an order with few crossing edges.
//!
//! After Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical System
//! Structures", 1981: layers by longest paths, a dummy node in every layer that an edge passes,
//! sweeps that put each node at the mean of its neighbours, and at last positions on the page
//! likewise.

/// What is placed: a size, and the nodes before it that it waits for.
pub struct Node {
    pub width: f64,
    pub height: f64,
    pub after: Vec<usize>,
}

/// Where all of it is.
pub struct Layout {
    pub width: f64,
    pub height: f64,
    /// The upper left corner of each node.
    pub places: Vec<(f64, f64)>,
    /// Of each node, for each that it waits for, the points of a line from that one down to it.
    pub lines: Vec<Vec<Vec<(f64, f64)>>>,
}

/// Between nodes of a layer, and between layers.
const BESIDE: f64 = 24.0;
const BELOW: f64 = 36.0;
/// Sweeps down and up again.
const SWEEPS: usize = 8;

/// A node, or a point of a line that passes a layer.
struct Item {
    layer: usize,
    width: f64,
    height: f64,
    up: Vec<usize>,
    down: Vec<usize>,
    /// The middle.
    x: f64,
}

pub fn layout(nodes: &[Node]) -> Layout {
    let mut layers: Vec<usize> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let below = node.after.iter().map(|i| layers[*i] + 1).max();
        layers.push(below.unwrap_or(0));
    }
    let item = |layer, width, height| Item {
        layer,
        width,
        height,
        up: Vec::new(),
        down: Vec::new(),
        x: 0.0,
    };
    let sized = nodes.iter().zip(&layers);
    let mut items: Vec<Item> = sized
        .map(|(node, layer)| item(*layer, node.width, node.height))
        .collect();
    // The items along each line, from the node that is waited for.
    let mut along: Vec<Vec<Vec<usize>>> = Vec::new();
    for (to, node) in nodes.iter().enumerate() {
        let mut of_node = Vec::new();
        for from in &node.after {
            let mut line = vec![*from];
            for layer in layers[*from] + 1..layers[to] {
                line.push(items.len());
                items.push(item(layer, 0.0, 0.0));
            }
            line.push(to);
            for pair in line.windows(2) {
                items[pair[0]].down.push(pair[1]);
                items[pair[1]].up.push(pair[0]);
            }
            of_node.push(line);
        }
        along.push(of_node);
    }
    let count = layers.iter().max().map_or(0, |last| last + 1);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (i, item) in items.iter().enumerate() {
        rows[item.layer].push(i);
    }
    place(&mut items, &mut rows);
    on_page(&items, &rows, nodes.len(), &along)
}

/// Orders the rows and gives each item its middle.
fn place(items: &mut [Item], rows: &mut [Vec<usize>]) {
    for row in rows.iter() {
        spread(items, row, &vec![0.0; row.len()]);
    }
    for sweep in 0..2 * SWEEPS {
        let is_down = sweep % 2 == 0;
        let order: Vec<usize> = match is_down {
            true => (0..rows.len()).collect(),
            false => (0..rows.len()).rev().collect(),
        };
        for layer in order {
            let row = &mut rows[layer];
            let wanted = |i: usize| {
                let near = if is_down {
                    &items[i].up
                } else {
                    &items[i].down
                };
                match near.len() {
                    0 => items[i].x,
                    n => near.iter().map(|j| items[*j].x).sum::<f64>() / n as f64,
                }
            };
            let mut by: Vec<(usize, f64)> = row.iter().map(|i| (*i, wanted(*i))).collect();
            // The first half of the sweeps orders; the rest keeps the order.
            if sweep < SWEEPS {
                by.sort_by(|a, b| a.1.total_cmp(&b.1));
                *row = by.iter().map(|(i, _)| *i).collect();
            }
            let wanted: Vec<f64> = by.into_iter().map(|(_, x)| x).collect();
            spread(items, row, &wanted);
        }
    }
}

/// Puts the items of a row where they want to be, as far as they have room beside each other.
fn spread(items: &mut [Item], row: &[usize], wanted: &[f64]) {
    let apart =
        |items: &[Item], a: usize, b: usize| (items[a].width + items[b].width) / 2.0 + BESIDE;
    // The nearest places in this order are means of groups that touch: each item's place less
    // the room of those before it in its group never falls.
    let mut groups: Vec<(f64, usize)> = Vec::new();
    let mut room = vec![0.0; row.len()];
    for i in 1..row.len() {
        room[i] = room[i - 1] + apart(items, row[i - 1], row[i]);
    }
    for i in 0..row.len() {
        let mut group = (wanted[i] - room[i], 1);
        while let Some(&(mean, n)) = groups.last()
            && mean > group.0
        {
            groups.pop();
            let all = n + group.1;
            let sum = mean * n as f64 + group.0 * group.1 as f64;
            group = (sum / all as f64, all);
        }
        groups.push(group);
    }
    let means = groups.into_iter().flat_map(|(mean, n)| vec![mean; n]);
    for ((i, room), mean) in row.iter().zip(room).zip(means) {
        items[*i].x = mean + room;
    }
}

fn on_page(items: &[Item], rows: &[Vec<usize>], nodes: usize, along: &[Vec<Vec<usize>>]) -> Layout {
    let left = |item: &Item| item.x - item.width / 2.0;
    let least = items.iter().map(left).fold(f64::INFINITY, f64::min);
    let least = if least.is_finite() { least } else { 0.0 };
    let right = |item: &Item| item.x + item.width / 2.0 - least;
    let width = items.iter().map(right).fold(0.0, f64::max);
    let (mut tops, mut heights, mut y) = (Vec::new(), Vec::new(), 0.0);
    for row in rows {
        let height = row.iter().map(|i| items[*i].height).fold(0.0, f64::max);
        tops.push(y);
        heights.push(height);
        y += height + BELOW;
    }
    let top = |item: &Item| tops[item.layer];
    let places = items[..nodes].iter().map(|i| (left(i) - least, top(i)));
    let line = |line: &Vec<usize>| {
        let last = line.len() - 1;
        let mut points = Vec::new();
        for (place, i) in line.iter().enumerate() {
            let (item, x) = (&items[*i], items[*i].x - least);
            // A line leaves at the bottom and enters at the top, and is upright in a layer.
            let enters = match place {
                0 => top(item) + item.height,
                _ => top(item),
            };
            points.push((x, enters));
            if place < last {
                points.push((x, top(item) + heights[item.layer]));
            }
        }
        points
    };
    Layout {
        width,
        height: (y - BELOW).max(0.0),
        places: places.collect(),
        lines: along
            .iter()
            .map(|of| of.iter().map(line).collect())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(after: &[&[usize]]) -> Vec<Node> {
        let node = |(i, after): (usize, &&[usize])| Node {
            width: 40.0 + 30.0 * (i % 3) as f64,
            height: 20.0 + 10.0 * (i % 2) as f64,
            after: after.to_vec(),
        };
        after.iter().enumerate().map(node).collect()
    }

    /// What every layout has to be.
    fn check(nodes: &[Node]) -> Layout {
        let layout = layout(nodes);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
        let box_of = |i: usize| {
            let (x, y) = layout.places[i];
            (x, y, x + nodes[i].width, y + nodes[i].height)
        };
        for i in 0..nodes.len() {
            let a = box_of(i);
            assert!(a.0 >= -1e-6 && a.2 <= layout.width + 1e-6 && a.3 <= layout.height + 1e-6);
            for j in 0..i {
                let b = box_of(j);
                let is_beside = a.2 <= b.0 || b.2 <= a.0;
                assert!(is_beside || a.3 <= b.1 || b.3 <= a.1, "{j} and {i} overlap");
            }
            for (line, from) in layout.lines[i].iter().zip(&nodes[i].after) {
                let (first, last) = (line[0], line[line.len() - 1]);
                assert!(near(first.1, box_of(*from).3) && near(last.1, a.1));
                assert!(line.windows(2).all(|pair| pair[0].1 <= pair[1].1 + 1e-6));
                // It passes no node.
                for pair in line.windows(2).filter(|pair| near(pair[0].0, pair[1].0)) {
                    for other in (0..nodes.len()).filter(|k| *k != i && k != from) {
                        let b = box_of(other);
                        let is_in = pair[0].0 > b.0 && pair[0].0 < b.2;
                        let at = |y: f64| y > b.1 && y < b.3;
                        assert!(!(is_in && (at(pair[0].1) || at(pair[1].1))), "{other}");
                    }
                }
            }
        }
        layout
    }

    #[test]
    fn nodes_are_below_what_they_wait_for_and_do_not_overlap() {
        check(&[]);
        check(&nodes(&[&[]]));
        check(&nodes(&[&[], &[0], &[0], &[1, 2], &[0, 3], &[], &[5, 4]]));
        let wide: Vec<Vec<usize>> = (0..500)
            .map(|i: usize| match i {
                0..3 => vec![],
                _ => vec![i - 1 - i % 3, i / 2],
            })
            .collect();
        let wide: Vec<&[usize]> = wide.iter().map(Vec::as_slice).collect();
        check(&nodes(&wide));
    }

    #[test]
    fn lines_that_need_not_cross_do_not() {
        // Two chains whose second nodes are given in the other order.
        let layout = check(&nodes(&[&[], &[], &[1], &[0]]));
        let x = |i: usize| layout.places[i].0;
        assert_eq!(x(0) < x(1), x(3) < x(2));
    }
}
