//! Whether several runs agree, for a pull request: contradictions are open, everything else is folded.

use crate::report::agreement::{answer, cell, named, sentence};
use crate::results::{Agreement, AgreementOn, Answer};

use super::budget::{Block, Item, fit};
use super::escape::{code, own};
use super::parts::summary;
use super::{MarkdownOptions, beginning, ci, revision};

/// Which answers a table has.
type Wanted = fn(&Answer) -> bool;

/// Renders the answer in a sentence, and rows of what each run says and all together: at most
/// [`limit`](MarkdownOptions::limit) bytes, of which the text says what had to be left out.
pub fn agreement_markdown(agreement: &Agreement, options: &MarkdownOptions) -> String {
    let all = named(agreement);
    let with = |wanted: Wanted| {
        all.iter().filter(move |(_, on)| wanted(&on.answer)).map(|(name, on)| (name.as_str(), *on))
    };
    let contradictions: Vec<_> = with(|answer| *answer == Answer::Contradict).collect();
    let mut blocks = Vec::new();
    blocks.extend(table(agreement, (1, "contradictions"), &contradictions, "", "\n"));
    blocks.push(legend(agreement));
    let kinds: [(u8, &str, Wanted); 3] = [
        (2, "agree, but one run is noisier", |answer| matches!(answer, Answer::Noisier(_))),
        (3, "agree", |answer| *answer == Answer::Agree),
        (4, "measured in one run only", |answer| *answer == Answer::OnlyOne),
    ];
    for (importance, what, wanted) in kinds {
        let rows: Vec<_> = with(wanted).collect();
        let before = summary(&format!("{} {what}", rows.len()));
        blocks.extend(table(agreement, (importance, what), &rows, &before, "\n</details>\n\n"));
    }
    fit(&head(agreement, options), blocks, options.limit)
        .unwrap_or_else(|| beginning(own(&sentence(agreement)), options.limit))
}

fn head(agreement: &Agreement, options: &MarkdownOptions) -> String {
    let mut revisions = agreement.revisions.iter();
    let reference = revisions.next().map(|r| revision(r, options)).unwrap_or_default();
    let others: Vec<String> = revisions.map(|r| revision(r, options)).collect();
    format!(
        "**{}**\n\n{reference} → {} in {} runs{}\n\n",
        own(&sentence(agreement)),
        others.join(", "),
        agreement.runs.len(),
        ci(options)
    )
}

/// What the cells mean.
fn legend(agreement: &Agreement) -> Block {
    let text = format!(
        "Improvement and its accuracy (*). Runs contradict each other where they differ by more than {} and by more than \
         chance: somewhere by mistake in at most 5 % of all such reports.",
        agreement.margin_percent
    );
    Block {
        importance: 0,
        what: "explanations".to_owned(),
        before: String::new(),
        items: vec![Item { rank: 0, text: format!("{}\n\n", own(&text)) }],
        after: String::new(),
    }
}

fn table(
    agreement: &Agreement,
    (importance, what): (u8, &str),
    rows: &[(&str, &AgreementOn)],
    before: &str,
    after: &str,
) -> Option<Block> {
    if rows.is_empty() {
        return None;
    }
    let several = agreement.revisions.len() > 2;
    let revision = if several { ("| revision ", "| :-- ") } else { ("", "") };
    let runs: Vec<String> = agreement.runs.iter().map(|run| code(run)).collect();
    let header = format!(
        "| benchmark {}| {} | together | |\n| :-- {}|{} --: | :-- |\n",
        revision.0,
        runs.join(" | "),
        revision.1,
        " --: |".repeat(runs.len())
    );
    let row = |(name, on): &(&str, &AgreementOn)| {
        let mut cells = vec![code(name)];
        if several {
            cells.push(code(&on.revision));
        }
        let runs =
            on.runs.iter().map(|run| run.as_ref().map(|run| own(&cell(run))).unwrap_or_default());
        cells.extend(runs);
        cells.extend([own(&cell(&on.combined)), answer(on, agreement, code)]);
        Item { rank: 0, text: format!("| {} |\n", cells.join(" | ")) }
    };
    Some(Block {
        importance,
        what: what.to_owned(),
        before: format!("{before}{header}"),
        items: rows.iter().map(row).collect(),
        after: after.to_owned(),
    })
}
