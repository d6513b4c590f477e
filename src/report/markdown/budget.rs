//! A document of limited length: the least important is cut first, and the cut is said.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A part of a document that can be cut item by item.
#[derive(Debug, Clone)]
pub struct Block {
    /// 0 is cut last.
    pub importance: u8,
    /// What the items are, in the plural: `equivalent`.
    pub what: String,
    /// What comes before the items.
    pub before: String,
    /// The items in the order in which they are shown.
    pub items: Vec<Item>,
    /// What comes after them.
    pub after: String,
}

/// What is shown whole or not at all.
#[derive(Debug, Clone)]
pub struct Item {
    /// Within a block, 0 is cut last; those of equal rank are cut from the end.
    pub rank: u8,
    /// The text.
    pub text: String,
}

impl Block {
    fn length(&self) -> usize {
        if self.items.is_empty() {
            return 0;
        }
        let items: usize = self.items.iter().map(|item| item.text.len()).sum();
        self.before.len() + items + self.after.len()
    }

    /// Keeps what fits into so many bytes, at best; gives back how many items are left out.
    fn cut_to(&mut self, most: usize) -> usize {
        if self.length() <= most {
            return 0;
        }
        let count = self.items.len();
        let overhead = self.before.len() + self.after.len();
        let Some(mut left) = most.checked_sub(overhead) else {
            self.items.clear();
            return count;
        };
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|index| self.items[*index].rank);
        let mut kept = vec![false; count];
        for index in order {
            let Some(rest) = left.checked_sub(self.items[index].text.len()) else { break };
            left = rest;
            kept[index] = true;
        }
        let mut kept = kept.into_iter();
        self.items.retain(|_| kept.next() == Some(true));
        count - self.items.len()
    }
}

/// The head and those parts of the blocks that fit into so many bytes, in the order given. `None` if not even
/// the head does.
pub fn fit(head: &str, mut blocks: Vec<Block>, most: usize) -> Option<String> {
    let whole = head.len() + blocks.iter().map(Block::length).sum::<usize>();
    let mut notice = String::new();
    if whole > most {
        // Nothing can become longer than if everything were left out.
        let all: Vec<(String, usize, usize)> = counts(&blocks, |block| block.items.len());
        let reserved = notice_of(&all).len();
        let mut left = most.checked_sub(head.len() + reserved)?;
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        order.sort_by_key(|index| blocks[*index].importance);
        let mut left_out = vec![0; blocks.len()];
        let before = blocks.clone();
        for index in order {
            left_out[index] = blocks[index].cut_to(left);
            if !blocks[index].items.is_empty() {
                left -= blocks[index].length();
            }
        }
        let mut left_out = left_out.into_iter();
        notice = notice_of(&counts(&before, |_| left_out.next().unwrap_or_default()));
    }
    let mut text = format!("{head}{notice}");
    for block in blocks.iter().filter(|block| !block.items.is_empty()) {
        text += &block.before;
        text.extend(block.items.iter().map(|item| item.text.as_str()));
        text += &block.after;
    }
    Some(text)
}

/// What the blocks hold, how many of it are left out, and of how many.
fn counts(
    blocks: &[Block],
    mut left_out: impl FnMut(&Block) -> usize,
) -> Vec<(String, usize, usize)> {
    let mut sums: BTreeMap<(u8, &str), (usize, usize)> = BTreeMap::new();
    for block in blocks {
        let sum = sums.entry((block.importance, &block.what)).or_default();
        sum.0 += left_out(block);
        sum.1 += block.items.len();
    }
    sums.into_iter().map(|((_, what), (out, all))| (what.to_owned(), out, all)).collect()
}

fn notice_of(counts: &[(String, usize, usize)]) -> String {
    let mut text = String::new();
    for (what, left_out, all) in counts.iter().filter(|(_, left_out, _)| *left_out > 0) {
        let separator =
            if text.is_empty() { "Too long to be shown whole; left out here: " } else { ", " };
        _ = write!(text, "{separator}{left_out} of {all} {what}");
    }
    if !text.is_empty() {
        text += ". The results file has everything.\n\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(importance: u8, what: &str, items: &[(u8, &str)]) -> Block {
        let item = |(rank, text): &(u8, &str)| Item { rank: *rank, text: (*text).to_owned() };
        Block {
            importance,
            what: what.to_owned(),
            before: "<".to_owned(),
            items: items.iter().map(item).collect(),
            after: ">".to_owned(),
        }
    }

    #[test]
    fn what_fits_is_whole_and_in_order() {
        let blocks = vec![block(1, "b", &[(0, "1"), (0, "2")]), block(0, "a", &[(0, "3")])];
        assert_eq!(fit("head ", blocks, 100).unwrap(), "head <12><3>");
    }

    #[test]
    fn the_least_important_is_cut_first_and_this_is_said() {
        let long = "x".repeat(300);
        let items = [(1, "later,"), (0, "sooner,"), (1, long.as_str())];
        let blocks = vec![block(1, "rows", &items), block(0, "facts", &[(0, "fact")])];
        let said = "Too long to be shown whole; left out here: 1 of 3 rows. The results file has everything.\n\n";
        assert_eq!(
            fit("head ", blocks.clone(), 300).unwrap(),
            format!("head {said}<later,sooner,><fact>")
        );
        // With more room there is ever more.
        let ends = (50..330).filter_map(|most| fit("head ", blocks.clone(), most));
        let mut ends: Vec<String> = ends
            .map(|text| text.rsplit(['\n', ' ']).next().unwrap_or_default().to_owned())
            .collect();
        ends.dedup();
        let whole = format!("<later,sooner,{long}><fact>");
        assert_eq!(ends, ["", "<fact>", "<sooner,><fact>", "<later,sooner,><fact>", &whole]);
        assert!(fit("head ", blocks, 20).is_none());
    }

    proptest! {
            #[test]
            fn the_limit_holds_whatever_there_is(
                lengths in proptest::collection::vec(proptest::collection::vec(0usize..60, 0..8), 0..6),
                head in 0usize..200, most in 0usize..900,
            ) {
                let blocks: Vec<Block> = lengths.iter().enumerate().map(|(number, lengths)| Block {
                    importance: (number * 5 % 3) as u8,
                    what: format!("kind {number}"),
                    before: "before".to_owned(),
                    items: lengths.iter().map(|length| Item {
                        rank: (*length % 2) as u8, text: "x".repeat(*length),
                    }).collect(),
                    after: "after".to_owned(),
                }).collect();
                let whole: usize = head + blocks.iter().filter(|b| !b.items.is_empty()).map(Block::length).sum::<usize>();
                if let Some(text) = fit(&"h".repeat(head), blocks, most) {
                    prop_assert!(text.len() <= most.max(head), "{} > {most}", text.len());
    prop_assert!(whole > most || text.len() == whole);
                } else {
                    prop_assert!(whole > most);
                }
            }
        }
}
