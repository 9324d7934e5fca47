//! The shape of one tree of ANDs, by the layers at which its leaves are there.

/// ANDs over the leaves of a tree, each of the leaves or earlier ANDs that it names; the last one is the product.
pub(super) type Shape = Vec<Vec<usize>>;

/// The layer after which one item is left of `items` at layer `now` and of those that come at `later` ones, if every AND
/// takes as many as `most`.
pub(super) fn finish(mut now: u32, mut items: usize, later: impl Iterator<Item = u32>, most: usize) -> u32 {
    for level in later {
        while items > 1 && now < level {
            items = items.div_ceil(most);
            now += 1;
        }
        now = now.max(level);
        items += 1;
    }
    while items > 1 {
        items = items.div_ceil(most);
        now += 1;
    }
    now
}

/// A tree over leaves that come at these layers which is done at layer `needed`, if any is: layer by layer, what is there
/// is grouped in the smallest groups that leave time for the rest. The more inputs, the more products an input costs.
pub(super) fn shape(levels: &[u32], needed: u32, most: usize) -> Shape {
    let mut order: Vec<usize> = (0..levels.len()).collect();
    order.sort_by_key(|&leaf| levels[leaf]);
    let later = |from: usize| order[from..].iter().map(|&leaf| levels[leaf]);
    let width = (2..most).find(|&width| finish(0, 0, later(0), width) <= needed).unwrap_or(most);
    let (mut shape, mut items, mut came, mut now) = (Shape::new(), Vec::new(), 0, 0);
    loop {
        if items.len() <= 1 && came < order.len() {
            now = now.max(levels[order[came]]);
        }
        while came < order.len() && levels[order[came]] <= now {
            items.push(order[came]);
            came += 1;
        }
        if items.len() > 1 {
            let mut groups = (2..width).map(|size| items.len().div_ceil(size));
            let in_time = |&groups: &usize| finish(now + 1, groups, later(came), width) <= needed;
            let groups = groups.find(in_time).unwrap_or(items.len().div_ceil(width));
            items = group(&items, groups, levels.len(), &mut shape);
            now += 1;
        } else if came == order.len() {
            return shape;
        }
    }
}

/// Makes ANDs of `groups` groups whose sizes differ by one at most; what stands alone stays.
fn group(items: &[usize], groups: usize, leaves: usize, shape: &mut Shape) -> Vec<usize> {
    let (size, larger) = (items.len() / groups, items.len() % groups);
    let mut rest = items;
    let mut next = |place: usize| {
        let group = rest.split_off(..size + usize::from(place < larger)).expect("the sizes add up");
        if let [alone] = *group {
            return alone;
        }
        shape.push(group.to_vec());
        leaves + shape.len() - 1
    };
    (0..groups).map(&mut next).collect()
}

/// How many ANDs are above each leaf.
pub(super) fn depths(shape: &Shape, leaves: usize) -> Vec<u32> {
    let mut depths = vec![0; leaves + shape.len()];
    for (place, group) in shape.iter().enumerate().rev() {
        group.iter().for_each(|&item| depths[item] = depths[leaves + place] + 1);
    }
    depths.truncate(leaves);
    depths
}
