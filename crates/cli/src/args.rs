//! The command line: every command with an example in its `--help`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod dream;
mod upkeep;

pub(crate) use dream::{DreamArgs, TopicsAct, TopicsArgs};
pub(crate) use upkeep::{ArchiveAct, ArchiveArgs, ConsolidateArgs, DoctorArgs, TaskArg, WatchArgs};

/// Long-term memory for agents in an ordinary Obsidian vault.
#[derive(Debug, Parser)]
#[command(
    name = "dormouse",
    version,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done · 1 failed · 2 wrong usage · 3 not found · 4 conflict · 5 locked by another process · 6 read-only · 7 refused by a rule · 8 consolidate found something severe · 130 interrupted\n\
                  Example: dormouse --vault ~/Notes search \"why did we drop the cache\""
)]
pub(crate) struct Cli {
    /// The vault. Default: the nearest parent folder with `dormouse.toml` or `.obsidian`.
    #[arg(long, global = true, env = "DORMOUSE_VAULT", value_name = "DIR")]
    pub(crate) vault: Option<PathBuf>,
    /// Print one JSON value, success or failure.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Log to stderr; twice for more. `DORMOUSE_LOG` takes a filter.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// No progress bars.
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
    #[command(flatten)]
    pub(crate) embed: EmbedArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// An endpoint that embeds. It gets the text of notes, so that no file of a vault can name one.
#[derive(Debug, Default, Args)]
pub(crate) struct EmbedArgs {
    /// Send the text of notes to this OpenAI-compatible endpoint for vectors: http://HOST:PORT/v1.
    #[arg(long, global = true, env = "DORMOUSE_EMBED_ENDPOINT", value_name = "URL", hide_short_help = true)]
    pub(crate) embed_endpoint: Option<String>,
    /// Its model.
    #[arg(
        long,
        global = true,
        env = "DORMOUSE_EMBED_MODEL",
        value_name = "NAME",
        default_value = "text-embedding-3-small",
        hide_short_help = true
    )]
    pub(crate) embed_model: String,
    /// The environment variable that holds its key.
    #[arg(long, global = true, env = "DORMOUSE_EMBED_KEY_ENV", value_name = "VARIABLE", hide_short_help = true)]
    pub(crate) embed_key_env: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a folder a vault: the layers' folders and a commented dormouse.toml. Touches no note.
    #[command(after_help = "Example: dormouse init ~/Notes")]
    Init(InitArgs),
    /// The health of the memory on one panel: layers, the stages' last runs, signals, findings.
    #[command(after_help = "Example: dormouse status --json\n\
        Only looks, and exits 0 whatever it finds. docs/consolidate.md names the fields of --json.")]
    Status,
    /// What a person must act on, each with what to do next.
    #[command(after_help = "Example: dormouse doctor || notify-send \"the memory needs you\"\n\
        Only looks. Exit codes: 0 nothing has to be done · 1 something has")]
    Doctor(DoctorArgs),
    /// Digests that sleep: which and why, and how to wake one.
    #[command(after_help = "Examples: dormouse archive list --json\n          \
        dormouse archive thaw digest/wiki/ferry \"Old harbour\"")]
    Archive(ArchiveArgs),
    /// Find what was written about something, ranked and explained.
    #[command(after_help = "Example: dormouse search \"in:digest tag:search why not RRF\" --explain\n\
        Example: dormouse search \"ferry links:Harbour date:last-week\" --expand 1 --budget 4000\n\
        Words, \"exact phrases\", -not, in:LAYER, bucket:NAME, tag:NAME, folder:PATH, prop:KEY=VALUE, date:2026-11..,\n\
        links:NOTE, links-to:NOTE, linked-from:NOTE, is:archived, is:pending, each with - in front for its contrary and\n\
        with quotes around blanks; anything else is text. Days such as `last week` or 上周三 are preferred.\n\
        A query that starts with a hyphen goes behind `--`.")]
    Search(SearchArgs),
    /// List notes by their state: layer, bucket, tag, date, links, archived, pending.
    #[command(after_help = "Example: dormouse list --in digest --bucket procedure --since 2026-11-01\n\
        Example: dormouse list \"tag:sea -in:daily date:last-month\" --sort newest\n\
        CONDITIONS are those of a search; options and conditions all have to hold.")]
    List(ListArgs),
    /// Walk the links from a note.
    #[command(after_help = "Example: dormouse traverse digest/wiki/ranking --depth 2 --direction both\n\
        Example: dormouse traverse Ranking --predicate derived_from --in daily --in resource")]
    Traverse(TraverseArgs),
    /// Print a note with its version token.
    #[command(after_help = "Example: dormouse read digest/wiki/ranking")]
    Read(ReadArgs),
    /// Write down something that happened, as a daily event.
    #[command(
        after_help = "Example: dormouse remember \"Reindexing takes 4 s on 10k notes\" --title \"Index timing\"\n\
        Without TEXT it reads standard input; paragraphs become blocks."
    )]
    Remember(RememberArgs),
    /// Give a note, another file or a folder a new name, and write every link to it anew.
    #[command(after_help = "Examples: dormouse rename Heron \"Grey heron\"\n          \
        dormouse rename inbox/idea.md projects/heron/Idea.md --dry-run\n          \
        dormouse rename inbox/idea.md projects/heron/\n\
        Example: dormouse rename --yes old-folder new-folder\n\
        OLD is a path, or a name as in a wikilink that one file answers to; `A/` is the folder. NEW is a path in the vault; a name without a folder keeps the\n\
        folder where OLD was named without one, and a NEW that ends with `/` keeps the name. Each link keeps its own\n\
        form; where that would mean another file a longer one is written. All or nothing.\n\
        Exit codes: 2 several files answer to OLD · 3 no such file · 4 the name is taken, or a note changed meanwhile · 7 the name or the place is not allowed")]
    Rename(RenameArgs),
    /// Make one note of two: every block and link of both is kept, links lead to the one that stays.
    #[command(after_help = "Example: dormouse merge Heron \"Grey heron\" --dry-run\n\
        KEEP keeps its text and properties and gains what only DROP says, under DROP's headings; blocks that stand in both\n\
        stand once; DROP's name becomes an alias. DROP's file goes to .trash, whole. All or nothing.\n\
        Exit codes: 2 several notes have the name · 3 no such note · 4 a note changed meanwhile · 7 the two can't be joined, or nobody\n\
        writes there")]
    Merge(MergeArgs),
    /// Two notes are no duplicates: don't report them again until one of them says something else.
    #[command(after_help = "Examples: dormouse dismiss Heron \"Grey heron\"\n          \
        dormouse dismiss --list\n          \
        dormouse dismiss --undo Heron \"Grey heron\"")]
    Dismiss(DismissArgs),
    /// Change one place of a note, and nothing outside of it.
    #[command(
        after_help = "Examples: dormouse edit Heron --heading \"Log\" --append --text \"- seen at noon\"\n          \
        dormouse edit Heron --set status=final --unset draft --add tags=bird\n          \
        echo \"New words.\" | dormouse edit Heron --block b3 --dry-run\n\
        Example: dormouse edit Heron --heading \"Log#2026\" --text \"- one\" --if-version \"$TOKEN\"\n\
        Shows the diff. `dormouse read` prints the version token; with --if-version the edit is made only on that\n\
        version. Exit codes: 2 several notes, headings or blocks have the name · 3 no such note, heading, block or\n\
        property · 4 the note is another (the diff is shown) · 6 it is read-only · 7 it is no Markdown note, this can't be\n\
        changed in place, or nobody writes there"
    )]
    Edit(EditArgs),
    /// Abstract new experience into linked digest notes.
    #[command(after_help = "Example: dormouse dream --dry-run\n\
        Without a configured model the offline extractive abstractor is used, and each audit line says so.")]
    Dream(DreamArgs),
    /// What might be raised with you today: follow-ups with a day, open questions, recurring interests.
    #[command(after_help = "Examples: dormouse topics\n          \
        dormouse topics --json --all\n          \
        dormouse topics raised 3f9c\n\
        Found by rules in the events of the last sixty days. What is answered or done later resolves itself.")]
    Topics(TopicsArgs),
    /// Organise the digests: communities, recency, archive, duplicates, split, health.
    #[command(after_help = "Example: dormouse consolidate --task communities --task time")]
    Consolidate(ConsolidateArgs),
    /// Pack what is known about a question into a cited Markdown block for a model.
    #[command(after_help = "Example: dormouse context \"how do we release\" --budget 1500")]
    Context(ContextArgs),
    /// Print what changes in the vault, as it happens, and consolidate while it is quiet, until Ctrl-C.
    #[command(after_help = "Example: dormouse watch --json | while read -r line; do echo \"$line\"; done\n\
        + is new, ~ has other content, - is gone. After ten minutes (`schedule.quiet_minutes` of dormouse.toml) without\n\
        a change or a search, what is due is done: daily time and health, weekly split, communities and duplicates. A\n\
        change or a search stops it at once; it goes on when there is quiet again. With --json one object a line, by\n\
        its type: watching {root} first, delta {added, changed, removed}, problems {problems} when watching is hindered\n\
        or is no more, upkeep-begins {tasks}, upkeep-ended {report} or {error}.")]
    Watch(WatchArgs),
    /// Print a completion script.
    #[command(after_help = "Example: dormouse completions bash > ~/.local/share/bash-completion/completions/dormouse")]
    Completions {
        /// For which shell.
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The folder; made if absent. Default: the vault in force, else this folder.
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// What to look for; any text is legal.
    #[arg(required = true, num_args = 1..)]
    pub(crate) query: Vec<String>,
    /// How many notes.
    #[arg(short = 'n', long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) limit: u32,
    /// Show how each score was made.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Archived notes too.
    #[arg(long)]
    pub(crate) archived: bool,
    /// Go on where the reply before ended: its cursor, to the same query.
    #[arg(long)]
    pub(crate) cursor: Option<String>,
    /// How many bytes of passages at the most; the best are shown.
    #[arg(long, value_name = "BYTES")]
    pub(crate) budget: Option<usize>,
    /// How many passages a note.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) passages: u32,
    /// How many bytes of one passage; a longer block is cut around what matched.
    #[arg(long, value_name = "BYTES", default_value_t = 2_000)]
    pub(crate) passage_bytes: usize,
    /// Prefer the time that words such as `last week` name. On unless switched off.
    #[arg(long, overrides_with = "no_soft_dates")]
    pub(crate) soft_dates: bool,
    /// Take words such as `last week` for words alone.
    #[arg(long)]
    pub(crate) no_soft_dates: bool,
    /// Show what the hits link to, and what links to them, so many steps away.
    #[arg(long, value_name = "DEPTH", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=3))]
    pub(crate) expand: u32,
    /// How many such notes at the most.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=200))]
    pub(crate) expand_limit: u32,
}

#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    /// The question.
    #[arg(required = true, num_args = 1..)]
    pub(crate) query: Vec<String>,
    /// Size of the block in (estimated) tokens.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(50..=1_000_000))]
    pub(crate) budget: u32,
}

/// A layer, as named on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LayerArg {
    Daily,
    Resource,
    Digest,
    Other,
}

/// A bucket, as named on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum BucketArg {
    Procedure,
    Personal,
    Wiki,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Conditions as in a search, such as `tag:x` or `-in:daily`.
    pub(crate) conditions: Vec<String>,
    /// Only this layer.
    #[arg(long = "in", value_name = "LAYER")]
    pub(crate) layer: Option<LayerArg>,
    /// Only this bucket.
    #[arg(long)]
    pub(crate) bucket: Option<BucketArg>,
    /// Only notes with this tag, or one below it. May be repeated: all of them.
    #[arg(long)]
    pub(crate) tag: Vec<String>,
    /// Only notes in this folder or deeper.
    #[arg(long)]
    pub(crate) folder: Option<String>,
    /// Only notes of this day (2026-11-30) or later.
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub(crate) since: Option<chrono::NaiveDate>,
    /// Only notes of this day or earlier.
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub(crate) until: Option<chrono::NaiveDate>,
    /// Only notes with this frontmatter property.
    #[arg(long = "where", value_name = "KEY=VALUE")]
    pub(crate) property: Vec<String>,
    /// Only notes that link to this note.
    #[arg(long, value_name = "NOTE")]
    pub(crate) links_to: Option<String>,
    /// Only notes that this note links to.
    #[arg(long, value_name = "NOTE")]
    pub(crate) linked_from: Option<String>,
    /// Only archived notes.
    #[arg(long)]
    pub(crate) archived: bool,
    /// Only material that was not dreamed yet.
    #[arg(long)]
    pub(crate) pending: bool,
    /// In which order.
    #[arg(long, value_enum, default_value_t = SortArg::Path)]
    pub(crate) sort: SortArg,
    /// Go on where the reply before ended: its cursor, to the same list.
    #[arg(long)]
    pub(crate) cursor: Option<String>,
    /// How many notes at the most.
    #[arg(short = 'n', long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) limit: u32,
}

/// The order of a list.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SortArg {
    Path,
    Name,
    /// Newest first.
    Newest,
    /// Oldest first.
    Oldest,
    /// Most linked first.
    Inbound,
}

/// Which way to walk.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum DirectionArg {
    Out,
    In,
    Both,
}

#[derive(Debug, Args)]
pub(crate) struct TraverseArgs {
    /// Where to start: a path, or a name as in a wikilink.
    pub(crate) from: String,
    /// Along links out of the note, into it, or both.
    #[arg(long, value_enum, default_value_t = DirectionArg::Out)]
    pub(crate) direction: DirectionArg,
    /// How many steps.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(crate) depth: u32,
    /// Only along edges with this predicate, as `derived_from`.
    #[arg(long)]
    pub(crate) predicate: Option<String>,
    /// Only into notes of this layer. May be repeated: one of them.
    #[arg(long = "in", value_name = "LAYER")]
    pub(crate) layer: Vec<LayerArg>,
    /// How many links to look at before the walk ends.
    #[arg(long, value_name = "LINKS", default_value_t = 100_000)]
    pub(crate) budget: usize,
    /// How many notes at the most.
    #[arg(short = 'n', long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) limit: u32,
}

#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// A path, or a name as in a wikilink.
    pub(crate) note: String,
}

#[derive(Debug, Args)]
pub(crate) struct RememberArgs {
    /// What happened. Default: standard input.
    pub(crate) text: Option<String>,
    /// The event's name. Default: its first sentence.
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Show the change without making it.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The note that stays: a path, or a name as in a wikilink.
    pub(crate) keep: String,
    /// The note that goes into it.
    pub(crate) drop: String,
    /// Show what would change without changing it.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Don't ask. Only a person at a terminal is asked.
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DismissArgs {
    /// One note: a path, or a name as in a wikilink.
    pub(crate) a: Option<String>,
    /// The other.
    pub(crate) b: Option<String>,
    /// List the pairs that are dismissed.
    #[arg(long, conflicts_with_all = ["a", "b", "undo"])]
    pub(crate) list: bool,
    /// Take the dismissal back.
    #[arg(long)]
    pub(crate) undo: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RenameArgs {
    /// What: a path, or a name as in a wikilink.
    pub(crate) old: String,
    /// The new path or name.
    pub(crate) new: String,
    /// Show what would change without changing it.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Don't ask. Only a person at a terminal is asked.
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// Where new text goes, seen from a heading's section, a block or a range.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PlaceArg {
    /// At its end.
    End,
    /// In front of it.
    Before,
    /// Behind it.
    After,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("where").required(true).multiple(true).args(["heading", "block", "range", "set", "unset", "add", "remove"]))]
pub(crate) struct EditArgs {
    /// A path, or a name as in a wikilink.
    pub(crate) note: String,
    /// All that stands below this heading; `A#B` is B below A.
    #[arg(long, value_name = "HEADING", conflicts_with_all = ["block", "range", "set", "unset", "add", "remove"])]
    pub(crate) heading: Option<String>,
    /// The block with this id.
    #[arg(long, value_name = "ID", conflicts_with_all = ["range", "set", "unset", "add", "remove"])]
    pub(crate) block: Option<String>,
    /// These bytes of the file.
    #[arg(long, value_name = "A..B", value_parser = range, conflicts_with_all = ["set", "unset", "add", "remove"])]
    pub(crate) range: Option<std::ops::Range<usize>>,
    /// Set this property; VALUE is YAML where it can be read as that, else text. May be repeated.
    /// `aliases`, `tags` and `cssclasses` are found in any case, other keys as they are written.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Take this property away. May be repeated.
    #[arg(long, value_name = "KEY")]
    pub(crate) unset: Vec<String>,
    /// Add a value to this list property. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) add: Vec<String>,
    /// Take a value out of this list property. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) remove: Vec<String>,
    /// The new text. Default: standard input.
    #[arg(long, allow_hyphen_values = true, conflicts_with_all = ["set", "unset", "add", "remove"])]
    pub(crate) text: Option<String>,
    /// Put the text at the end of the section, or behind the block or range, instead of replacing it.
    #[arg(long, conflicts_with_all = ["set", "unset", "add", "remove"])]
    pub(crate) append: bool,
    /// Put the text there instead of replacing.
    #[arg(long, value_enum, value_name = "WHERE", conflicts_with_all = ["append", "set", "unset", "add", "remove"])]
    pub(crate) insert: Option<PlaceArg>,
    /// Which one, from 1, where several headings or blocks have the name.
    #[arg(long, value_name = "N", value_parser = occurrence)]
    pub(crate) occurrence: Option<usize>,
    /// Only if the note has this version.
    #[arg(long, value_name = "TOKEN")]
    pub(crate) if_version: Option<dormouse_vault::Version>,
    /// Show the diff without making the change.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

impl EditArgs {
    /// Whether new text is put in, and not a property changed.
    pub(crate) fn takes_text(&self) -> bool {
        self.heading.is_some() || self.block.is_some() || self.range.is_some()
    }

    /// Where the text goes; `None` to replace.
    pub(crate) fn place(&self) -> Option<PlaceArg> {
        self.insert.or(self.append.then_some(PlaceArg::End))
    }
}

/// A count from 1.
fn occurrence(text: &str) -> Result<usize, &'static str> {
    text.trim().parse().ok().filter(|n| *n > 0).ok_or("occurrences are counted from 1")
}

/// A day of the calendar.
fn day(text: &str) -> Result<chrono::NaiveDate, &'static str> {
    text.trim().parse().map_err(|_| "a day is written YYYY-MM-DD, as 2026-11-30")
}

/// `A..B`
fn range(text: &str) -> Result<std::ops::Range<usize>, &'static str> {
    let number = |text: &str| text.trim().parse::<usize>().ok();
    let range = text.split_once("..").and_then(|(from, to)| Some(number(from)?..number(to)?));
    range.filter(|range| range.start <= range.end).ok_or("a range of bytes is written 10..20")
}
