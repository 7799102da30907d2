//! Who writes the sentences of the generated notes, and by what chance.

use std::collections::BTreeSet;

use dormouse_fixtures::SplitMix64;

pub(crate) struct Random(pub(crate) SplitMix64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0.next()
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i + 1);
            items.swap(i, j);
        }
    }
}

/// A sentence is its words; a Chinese one is written without blanks.
pub(crate) type Sentence = Vec<String>;

/// Writes sentences about a subject.
pub(crate) trait Maker {
    fn sentence(&self, random: &mut Random, chinese: bool, subject: usize) -> Sentence;
    fn word(&self, random: &mut Random, chinese: bool, subject: usize) -> String;
}

/// Words by Zipf's law; one word of three is of the subject.
pub(crate) struct Zipf {
    english: Vec<String>,
    chinese: Vec<String>,
    steps: Vec<f64>,
}

const FUNCTION: [&str; 16] =
    ["the", "of", "and", "to", "in", "is", "that", "it", "was", "for", "on", "with", "as", "are", "by", "at"];

impl Zipf {
    pub(crate) fn new(size: usize) -> Self {
        let mut random = Random(SplitMix64(99));
        let onset = [
            "b", "br", "c", "ch", "d", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "tr",
            "v", "w",
        ];
        let rhyme =
            ["a", "an", "ar", "e", "en", "er", "est", "i", "in", "ing", "o", "on", "or", "ow", "u", "un", "ure", "ate"];
        let mut seen = BTreeSet::new();
        let (mut english, mut chinese) = (Vec::new(), Vec::new());
        while english.len() < size {
            let word: String = (0..1 + random.below(3) + usize::from(english.len() > 200))
                .map(|_| format!("{}{}", random.pick(&onset), random.pick(&rhyme)))
                .collect();
            if seen.insert(word.clone()) {
                english.push(word);
            }
        }
        // Six hundred characters of everyday use make the words.
        let chars: Vec<char> = (0..600).map(|i| char::from_u32(0x4E00 + (i * 31) % 18_000).unwrap()).collect();
        while chinese.len() < size {
            let word: String = (0..if random.chance(80) { 2 } else { 3 }).map(|_| *random.pick(&chars)).collect();
            if seen.insert(word.clone()) {
                chinese.push(word);
            }
        }
        let mut sum = 0.0;
        let steps = (1..=size)
            .map(|rank| {
                sum += 1.0 / rank as f64;
                sum
            })
            .collect();
        Self { english, chinese, steps }
    }
}

impl Maker for Zipf {
    fn sentence(&self, random: &mut Random, chinese: bool, subject: usize) -> Sentence {
        let mut out = Vec::new();
        for _ in 0..5 + random.below(9) {
            if !chinese && random.chance(40) {
                out.push((*random.pick(&FUNCTION)).to_owned());
            }
            out.push(self.word(random, chinese, subject));
        }
        out
    }

    fn word(&self, random: &mut Random, chinese: bool, subject: usize) -> String {
        let words = if chinese { &self.chinese } else { &self.english };
        if random.chance(33) {
            return words[(subject * 37 + random.below(40)) % words.len()].clone();
        }
        let at = (random.next() >> 11) as f64 / (1_u64 << 53) as f64 * self.steps.last().unwrap();
        words[self.steps.partition_point(|step| *step < at).min(words.len() - 1)].clone()
    }
}

/// Sentences of a small grammar, in words that mean something.
pub(crate) struct Grammar;

const NOUNS: [&str; 48] = [
    "heron",
    "otter",
    "ferry",
    "harbour",
    "bakery",
    "garden",
    "teacher",
    "pilot",
    "engine",
    "server",
    "cable",
    "battery",
    "library",
    "museum",
    "kitchen",
    "recipe",
    "violin",
    "concert",
    "doctor",
    "clinic",
    "forest",
    "valley",
    "bridge",
    "river",
    "market",
    "farmer",
    "tractor",
    "barn",
    "window",
    "carpet",
    "sailor",
    "compass",
    "island",
    "lantern",
    "archive",
    "ledger",
    "student",
    "lecture",
    "planet",
    "telescope",
    "camera",
    "portrait",
    "painter",
    "gallery",
    "train",
    "station",
    "signal",
    "tunnel",
];
const VERBS: [&str; 24] = [
    "repairs",
    "watches",
    "follows",
    "paints",
    "carries",
    "measures",
    "replaces",
    "describes",
    "crosses",
    "protects",
    "cleans",
    "records",
    "visits",
    "opens",
    "closes",
    "supports",
    "delays",
    "warms",
    "lifts",
    "studies",
    "sells",
    "borrows",
    "marks",
    "joins",
];
const ADJECTIVES: [&str; 24] = [
    "old", "quiet", "broken", "green", "narrow", "famous", "heavy", "early", "careful", "northern", "wooden", "golden",
    "empty", "distant", "patient", "modern", "gentle", "hidden", "rusty", "bright", "frozen", "public", "private",
    "curious",
];
const PLACES: [&str; 16] = [
    "near the lake",
    "behind the mill",
    "under the arch",
    "at the corner",
    "in the north wing",
    "after the storm",
    "before breakfast",
    "during the strike",
    "on the second floor",
    "across the square",
    "beside the canal",
    "at low tide",
    "in deep snow",
    "by candle light",
    "without permission",
    "for a small fee",
];
const ZH_NOUNS: [&str; 32] = [
    "老师",
    "图书馆",
    "发动机",
    "服务器",
    "电池",
    "花园",
    "医生",
    "森林",
    "大桥",
    "市场",
    "农民",
    "拖拉机",
    "窗户",
    "水手",
    "岛屿",
    "灯笼",
    "档案",
    "账本",
    "学生",
    "讲座",
    "行星",
    "望远镜",
    "相机",
    "画家",
    "画廊",
    "火车",
    "车站",
    "信号",
    "隧道",
    "厨房",
    "菜谱",
    "小提琴",
];
const ZH_VERBS: [&str; 16] = [
    "修理", "观察", "跟随", "描绘", "搬运", "测量", "替换", "描述", "穿过", "保护", "清洗", "记录", "参观", "支持",
    "推迟", "研究",
];
const ZH_ADJECTIVES: [&str; 16] = [
    "古老的",
    "安静的",
    "破损的",
    "绿色的",
    "狭窄的",
    "著名的",
    "沉重的",
    "细心的",
    "北方的",
    "木制的",
    "金色的",
    "空荡的",
    "遥远的",
    "耐心的",
    "现代的",
    "隐藏的",
];
const ZH_PLACES: [&str; 12] = [
    "在湖边",
    "在磨坊后面",
    "在拱门下",
    "在街角",
    "在暴雨之后",
    "在早饭之前",
    "在罢工期间",
    "在二楼",
    "在广场对面",
    "在运河旁边",
    "在退潮时",
    "在雪地里",
];

impl Maker for Grammar {
    fn sentence(&self, random: &mut Random, chinese: bool, subject: usize) -> Sentence {
        let mut parts: Vec<String> = Vec::new();
        if chinese {
            let place = (*random.pick(&ZH_PLACES)).to_owned();
            parts.extend([place, (*random.pick(&ZH_ADJECTIVES)).to_owned(), self.word(random, true, subject)]);
            parts.push((*random.pick(&ZH_VERBS)).to_owned());
            parts.extend([(*random.pick(&ZH_ADJECTIVES)).to_owned(), (*random.pick(&ZH_NOUNS)).to_owned()]);
            return parts;
        }
        parts.extend(["the".to_owned(), (*random.pick(&ADJECTIVES)).to_owned(), self.word(random, false, subject)]);
        parts.push((*random.pick(&VERBS)).to_owned());
        parts.extend(["the".to_owned(), (*random.pick(&ADJECTIVES)).to_owned(), (*random.pick(&NOUNS)).to_owned()]);
        if random.chance(70) {
            parts.extend(random.pick(&PLACES).split(' ').map(str::to_owned));
        }
        parts
    }

    fn word(&self, random: &mut Random, chinese: bool, subject: usize) -> String {
        let nouns: &[&str] = if chinese { &ZH_NOUNS } else { &NOUNS };
        let near = random.chance(50).then(|| nouns[(subject * 3 + random.below(3)) % nouns.len()]);
        near.unwrap_or_else(|| *random.pick(nouns)).to_owned()
    }
}

/// Three hundred words, each as likely as the next.
pub(crate) struct Tiny(pub(crate) Zipf);

impl Maker for Tiny {
    fn sentence(&self, random: &mut Random, chinese: bool, subject: usize) -> Sentence {
        (0..6 + random.below(8)).map(|_| self.word(random, chinese, subject)).collect()
    }

    fn word(&self, random: &mut Random, chinese: bool, _: usize) -> String {
        random.pick(if chinese { &self.0.chinese[..300] } else { &self.0.english[..300] }).clone()
    }
}
