//! Everyday kinds of things: a question asks for "pets", the answer says "a dog".
//!
//! Each kind has the words that ask for it and common members, in English and Chinese. The kinds are
//! those of category norms (what people name when they are asked for an animal, a food, an instrument,
//! a relative), the members what comes to mind first: general knowledge of words.
//! A block is indexed with the kinds of what it speaks of; a query looks a kind up when it asks for one.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::scan::{Role, Word, analyze};

/// A kind: its term, the words that ask for it, and its members.
type Kind = (&'static str, &'static str, &'static str);

/// The term that stands for a thing in quotes.
const TITLE: &str = "~title";

#[rustfmt::skip]
const KINDS: &[Kind] = &[
    ("~animal", "animal pet creature wildlife 动物 宠物",
     "animal pet dog puppy pup cat kitten kitty horse pony cow bull pig sheep lamb goat rabbit bunny hamster mouse rat squirrel deer bear wolf fox lion tiger elephant monkey ape giraffe zebra panda bird parrot duck goose chicken hen eagle owl fish goldfish shark whale dolphin turtle tortoise snake lizard gecko frog bee butterfly spider insect 狗 猫 马 牛 羊 猪 鸡 鸭 鱼 鸟 兔 虎 狮 熊 狼 狐 鼠 龟 蛇 动物 宠物"),
    ("~food", "food dish meal snack dessert recipe ingredient cuisine cook bake eat fruit vegetable 食物 食品 美食 菜 水果 蔬菜 甜点 小吃 吃 做饭",
     "food dish meal breakfast lunch dinner snack dessert recipe bread cake cookie pie pastry muffin chocolate candy ice cream pudding cheese butter egg rice pasta noodle pizza burger sandwich soup salad stew curry sushi taco steak beef pork bacon ham chicken fish salmon seafood vegetable potato tomato onion carrot bean pepper garlic fruit apple banana orange lemon lime berry strawberry blueberry grape peach cherry mango coconut sauce honey sugar spice smoothie yogurt 米饭 面条 饺子 面包 蛋糕 饼干 巧克力 豆腐 鸡蛋 牛肉 猪肉 鸡肉 蔬菜 水果 苹果 香蕉 糖 汤"),
    ("~drink", "drink beverage 饮料 喝",
     "drink beverage water coffee tea milk juice soda lemonade beer wine whiskey vodka cocktail cider smoothie 咖啡 茶 牛奶 果汁 啤酒 葡萄酒 白酒"),
    ("~reading", "book novel author read writer literature 书 小说 读 作家 作者 书籍",
     "book novel author writer story tale fiction nonfiction biography memoir poem poetry poet series trilogy chapter saga comic manga magazine newspaper library bookstore read 小说 书籍 诗 故事 作家 杂志 报纸"),
    ("~film", "movie film show series watch 电影 影片 电视剧 看",
     "movie film cinema documentary trilogy sequel episode show series sitcom comedy drama thriller romcom romance sci-fi fantasy horror animation actor actress director Netflix Disney Marvel 电影 影片 电视剧 纪录片 导演 演员"),
    ("~music", "music song band musician artist singer album concert genre 音乐 歌 歌曲 乐队 歌手",
     "music song tune band musician singer album concert gig rock pop jazz blues classical country folk hip-hop rap metal punk opera orchestra choir melody Mozart Bach Beethoven 音乐 歌曲 乐队 歌手 专辑 摇滚 爵士 演唱会"),
    ("~instrument", "instrument 乐器",
     "instrument guitar piano violin cello drum flute clarinet trumpet saxophone trombone harp ukulele banjo bass keyboard harmonica organ 钢琴 吉他 小提琴 鼓 笛 琵琶 二胡 古筝"),
    ("~sport", "sport exercise workout activity athletic 运动 体育 锻炼 活动",
     "sport basketball football soccer baseball softball volleyball tennis golf hockey rugby cricket badminton swimming swim running run jog marathon race cycling biking bike hiking hike climbing climb skiing ski snowboard surf surfing skate skateboard boxing wrestling karate kickboxing taekwondo martial gymnastics yoga pilates gym weight fitness workout rowing kayak 足球 篮球 网球 排球 乒乓球 羽毛球 游泳 跑步 马拉松 滑雪 体操 拳击 武术"),
    ("~pastime", "hobby activity pastime interest fun relax unwind destress enjoy partake leisure 爱好 兴趣 活动 消遣",
     "hobby reading writing painting drawing pottery photography gardening cooking baking knitting sewing crochet dancing dance singing camping fishing hunting hiking swimming running biking traveling travel gaming chess puzzle yoga meditation movie music museum picnic theater volunteering collecting shopping 阅读 写作 绘画 摄影 园艺 烹饪 跳舞 唱歌 旅游 旅行 钓鱼"),
    ("~game", "game console 游戏",
     "game chess poker card board puzzle console Nintendo PlayStation Xbox Switch shooter multiplayer tournament Pokemon Zelda Mario Minecraft Monopoly 游戏 象棋 围棋 扑克"),
    ("~art", "art artwork paint painting draw create make craft 艺术 画 作品",
     "art painting paint drawing sketch portrait landscape sculpture statue pottery bowl pot vase clay ceramic mural watercolor canvas abstract collage mosaic photo photograph 绘画 油画 雕塑 书法 陶瓷 水彩"),
    ("~clothing", "clothes clothing wear outfit fashion accessory item 衣服 服装 穿",
     "clothes clothing shirt dress skirt pants jeans shorts suit jacket coat sweater hoodie hat cap shoe sneaker boot sock glove scarf tie belt ring necklace bracelet earring 衣服 裤子 裙子 鞋 帽子 外套 项链"),
    ("~vehicle", "vehicle car transport 车 交通工具",
     "vehicle car truck van bus taxi bike bicycle motorcycle scooter train subway tram plane airplane helicopter ship boat ferry canoe Ford Toyota Honda Tesla Ferrari Mustang 汽车 火车 飞机 自行车 摩托车 船 地铁 公共汽车"),
    ("~job", "job career work profession occupation position role 工作 职业 职务 职位",
     "job career profession teacher doctor nurse engineer lawyer accountant banker manager assistant secretary chef cook waiter barista artist designer writer journalist editor actor scientist researcher programmer developer counselor therapist psychologist coach trainer police officer firefighter soldier pilot driver farmer mechanic carpenter electrician salesman internship business 教师 医生 护士 工程师 律师 教授 记者 演员 经理 厨师 警察 军人 农民"),
    ("~relative", "family relative relation member child kid parent sibling 家人 亲戚 家庭 亲人",
     "family mother mom mum father dad parent son daughter child kid baby brother sister sibling grandmother grandma granny grandfather grandpa grandparent uncle aunt cousin nephew niece husband wife spouse partner fiance 父亲 母亲 儿子 女儿 哥哥 弟弟 姐姐 妹妹 丈夫 妻子 祖父 祖母 爷爷 奶奶 叔叔"),
    ("~illness", "illness disease sick injury injure health condition allergy allergic problem issue 疾病 病 受伤 健康",
     "illness disease sick cold flu fever cough cancer diabetes asthma allergy headache migraine pain ache injury sprain fracture surgery hospital heart attack stroke anxiety depression stress 感冒 癌症 糖尿病 发烧 头痛 手术 肺炎"),
    ("~feeling", "feel feeling emotion mood react reaction describe 感觉 心情 情绪 感受",
     "happy sad angry afraid scared nervous anxious excited thrilled proud grateful thankful relieved hopeful lonely jealous embarrassed ashamed guilty surprised shocked disappointed frustrated upset worried joy fear love hate calm peace bored tired overwhelmed confident 高兴 快乐 悲伤 生气 害怕 紧张 兴奋 骄傲 感激 失望 担心"),
    ("~nature", "nature landscape outdoor scenery 自然 风景 户外",
     "nature mountain hill valley river lake ocean sea beach coast island forest woods tree desert canyon waterfall cave volcano park trail sunset sunrise sky star meteor aurora flower garden 山 河 湖 海 岛 森林 沙漠 瀑布 火山 日落"),
    ("~plant", "plant flower tree 植物 花 树",
     "plant flower rose tulip daisy lily sunflower orchid dahlia cactus succulent basil herb tree oak pine maple palm bamboo grass 玫瑰 荷花 菊花 牡丹 竹 松树"),
    ("~place", "place city town country state location area travel visit trip move live vacation 国家 城市 地方 地区 旅行",
     "city town village country state America USA Canada Mexico Brazil England London Britain UK Scotland Ireland France Paris Germany Berlin Italy Rome Spain Barcelona Madrid Portugal Greece Turkey Sweden Norway Denmark Finland Netherlands Amsterdam Switzerland Austria Poland Russia Moscow China Beijing Shanghai Japan Tokyo Korea Seoul Thailand Vietnam Indonesia Bali India Singapore Australia Sydney Zealand Egypt Africa Europe Asia California Florida Texas Hawaii Alaska York Angeles Francisco Chicago Boston Seattle Miami Vegas 中国 美国 英国 法国 德国 日本 俄罗斯 韩国 印度 北京 上海 香港 台湾 伦敦 巴黎 纽约 东京"),
    ("~event", "event attend activity celebrate celebration participate gathering 事件 活动 参加 庆祝",
     "event party wedding birthday anniversary graduation festival fair parade concert conference convention workshop seminar meeting ceremony gala competition contest tournament race marathon exhibition show fundraiser picnic reunion retreat camp 婚礼 生日 节日 会议 比赛 展览 音乐会 典礼"),
    ("~season", "season holiday 季节 节日",
     "spring summer autumn fall winter Christmas Thanksgiving Easter Halloween 春天 夏天 秋天 冬天 春节 中秋 圣诞"),
    ("~color", "color colour 颜色",
     "red blue green yellow orange purple pink brown black white gray grey gold silver 红色 蓝色 绿色 黄色 黑色 白色 紫色"),
    ("~study", "study major degree field subject education course class learn educate 专业 学科 学位 学习 课程",
     "study degree major college university school course class lesson workshop certificate certification training math physics chemistry biology history geography psychology philosophy economics law medicine engineering literature counseling programming Spanish French German 数学 物理 化学 生物 历史 哲学 经济 法律 医学 文学"),
    ("~language", "language 语言",
     "English Spanish French German Italian Portuguese Russian Chinese Mandarin Japanese Korean Arabic Hindi Latin Greek 英语 汉语 中文 法语 德语 日语 俄语"),
    ("~faith", "faith religion religious spiritual church 宗教 信仰",
     "church faith prayer pray God Bible Christian Catholic Muslim Jewish Buddhist temple mosque synagogue priest pastor worship cross 教堂 佛教 基督教 伊斯兰教 寺庙"),
    ("~home", "home house furniture room 家 房子 家具 房间",
     "home house apartment room kitchen bedroom bathroom garage basement balcony yard backyard couch sofa bed chair table desk lamp shelf bookcase dresser mirror 公寓 厨房 卧室 客厅 沙发 床 椅子 桌子"),
    ("~device", "device gadget technology tech equipment tool 设备 电器 工具",
     "phone smartphone computer laptop tablet camera television TV headphones speaker microphone monitor keyboard mouse printer drone robot app website software 手机 电脑 相机 电视 平板"),
    ("~gift", "gift present receive 礼物",
     "gift present necklace ring watch flower card bouquet souvenir doll toy 礼物 戒指 手表 玩具"),
    ("~help", "charity volunteer community help support donate 慈善 志愿 帮助",
     "charity volunteer donate donation shelter homeless fundraiser fundraising nonprofit orphanage foundation campaign mentor mentorship 慈善 捐款 志愿者 基金会"),
    ("~title", "book novel author movie film show series song album game play poem magazine read watch 书 小说 电影 歌曲 作品", ""),
];

/// What a term has to do with kinds.
#[derive(Default)]
struct Entry {
    /// Of these it is a member.
    member: Vec<&'static str>,
    /// For these it asks.
    asks: Vec<&'static str>,
}

static TABLE: LazyLock<BTreeMap<String, Entry>> = LazyLock::new(|| {
    let mut out: BTreeMap<String, Entry> = BTreeMap::new();
    for (kind, asks, members) in KINDS {
        for term in terms(asks) {
            out.entry(term).or_default().asks.push(kind);
        }
        for term in terms(members) {
            let have = &mut out.entry(term).or_default().member;
            if !have.contains(kind) {
                have.push(kind);
            }
        }
    }
    out
});

/// The term of each word of a list: its stem, a Chinese pair, or a single character that stands alone.
fn terms(list: &'static str) -> impl Iterator<Item = String> {
    list.split_whitespace().filter_map(|word| {
        let first = analyze(word).into_iter().next()?;
        let pair = first.terms.iter().find(|(role, _)| *role == Role::Pair);
        pair.or(first.terms.first()).map(|(_, term)| term.clone())
    })
}

/// The kinds of what `text` speaks of, whose words are `words`, each once, in order. Linear.
pub(crate) fn kinds(words: &[Word], text: &str) -> Vec<String> {
    let mut out: Vec<&str> = Vec::new();
    for word in words {
        for (_, term) in &word.terms {
            out.extend(TABLE.get(term).into_iter().flat_map(|entry| &entry.member));
        }
    }
    let quoted = text.matches('"').count() >= 2 || text.contains(['《', '“']);
    if quoted {
        out.push(TITLE);
    }
    out.sort_unstable();
    out.dedup();
    out.into_iter().map(str::to_owned).collect()
}

/// Words back from the one that asks for a kind to the question word: "what are Ann's pets".
const FOCUS: usize = 3;

/// The kinds that a query asks for, with the number of the word that does: a word of the kind shortly
/// behind a question word. Linear.
pub(crate) fn kinds_asked(words: &[Word]) -> Vec<(usize, &'static str)> {
    let mut out = Vec::new();
    let mut since = usize::MAX;
    for (at, word) in words.iter().enumerate() {
        if since < FOCUS {
            let asked = word.terms.iter().filter_map(|(_, term)| TABLE.get(term)).flat_map(|entry| &entry.asks);
            out.extend(asked.map(|kind| (at, *kind)));
        }
        since = if QUESTIONS.contains(&word.surface.as_str()) { 0 } else { since.saturating_add(1) };
    }
    out
}

/// Words that ask for things of a kind.
const QUESTIONS: [&str; 11] = ["what", "whats", "which", "kind", "kinds", "type", "types", "么", "哪", "何", "几"];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, block: &str, common: &[&str]) {
        let stands = kinds(&analyze(block), block);
        let mut asked: Vec<&str> = kinds_asked(&analyze(query)).into_iter().map(|(_, kind)| kind).collect();
        asked.retain(|kind| stands.iter().any(|have| have == kind));
        asked.dedup();
        assert_eq!(asked, common, "{query} {stands:?}");
    }

    #[test]
    fn a_question_for_a_kind_finds_its_members() {
        check("What pets does Ann have?", "I walked the dogs.", &["~animal"]);
        check("Which instruments does he play?", "She bought an old violin", &["~instrument"]);
        check("她养了什么动物？", "家里有三只狗", &["~animal"]);
        check("What books has Tim read?", "I loved \"Dune\"", &["~title"]);
    }

    #[test]
    fn a_word_that_is_not_asked_for_stands_for_itself() {
        check("When did Ann walk her pets?", "I walked the dogs.", &[]);
        check("What did Ann say about the pets?", "I walked the dogs.", &[]);
        check("What pets does Ann have?", "It was a quiet evening.", &[]);
    }
}
