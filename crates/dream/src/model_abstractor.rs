//! Judgement by a language model, over the port.

use std::sync::Arc;

use async_trait::async_trait;
use dormouse_model::{LanguageModel, Usage};

use crate::abstractor::{Abstractor, ComposeJob, Composed, Decided, Gated, Target};
use crate::config::DreamConfig;
use crate::decide::{Candidate, Flavour};
use crate::error::{DreamError, ReplyFault};
use crate::gate::GroundedUnit;
use crate::machine::{Dialogue, Question, Reading, Step};
use crate::material::Material;
use crate::prompts::{ComposeQuestion, DecideQuestion, GateQuestion, cuts};
use crate::report::DroppedUnit;
use crate::weave::{place, related_lines, weave};

/// Judges by asking a model, in the material's language, with replies constrained by a schema.
#[derive(Clone)]
pub struct ModelAbstractor {
    /// Who is asked.
    pub model: Arc<dyn LanguageModel>,
    /// Sampling temperature; the provider's default when `None`. Default 0.
    pub temperature: Option<f64>,
    /// Passed on where the provider has one. Default 0.
    pub seed: Option<u64>,
}

impl ModelAbstractor {
    /// Asks `model`, at temperature 0 and with seed 0.
    #[must_use]
    pub fn new(model: Arc<dyn LanguageModel>) -> Self {
        Self { model, temperature: Some(0.0), seed: Some(0) }
    }
}

impl std::fmt::Debug for ModelAbstractor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelAbstractor").field("model", &self.model.name()).finish_non_exhaustive()
    }
}

#[async_trait]
impl Abstractor for ModelAbstractor {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn gate(&self, material: &Material, config: &DreamConfig) -> Result<Gated, DreamError> {
        let budget = config.material_tokens.min(self.model.context_tokens() / 2);
        let mut gated = Gated::default();
        for cut in cuts(material, budget) {
            let asked = self.converse(GateQuestion { material, cut: &cut, config }).await;
            let (reading, usage) = asked.map_err(|error| error.after(gated.usage))?;
            gated.usage += usage;
            gated.units.extend(reading.answer);
            gated.rejected.extend(reading.rejected.into_iter().map(|reason| {
                let (name, reason) = reason
                    .split_once(": ")
                    .map_or((String::new(), reason.clone()), |(n, r)| (n.to_owned(), r.to_owned()));
                DroppedUnit { name, reason, whole: true, facts: 0 }
            }));
        }
        Ok(gated)
    }

    async fn decide(
        &self,
        material: &Material,
        unit: &GroundedUnit,
        candidates: &[Candidate],
        config: &DreamConfig,
    ) -> Result<Decided, DreamError> {
        if candidates.is_empty() {
            return Ok(Decided::default());
        }
        let budget = config.material_tokens.min(self.model.context_tokens() / 2);
        let (reading, usage) = self.converse(DecideQuestion { material, unit, candidates, config, budget }).await?;
        Ok(Decided { verdicts: reading.answer, rejected: reading.rejected, usage })
    }

    async fn compose(&self, job: &ComposeJob<'_>, config: &DreamConfig) -> Result<Composed, DreamError> {
        let mut composed = Composed::default();
        let changes = match job.target {
            Target::Update { subject, flavour: flavour @ (Flavour::Refine | Flavour::Correct) } => {
                let (reading, usage) = self.converse(ComposeQuestion { job, subject, flavour, config }).await?;
                composed.usage = usage;
                composed.remarks = reading.rejected;
                reading.answer
            }
            _ => Vec::new(),
        };
        let mut woven = place(job, &changes, config);
        woven.related = related_lines(job);
        composed.text = weave(job, &job.unit.summary, &woven);
        Ok(composed)
    }
}

impl ModelAbstractor {
    /// Drives one dialogue to its end.
    async fn converse<Q: Question + Send>(&self, question: Q) -> Result<(Reading<Q::Answer>, Usage), DreamError>
    where
        Q::Answer: Send,
    {
        let mut dialogue = Dialogue::new(question);
        while let Some(step) = dialogue.next() {
            match step {
                Step::Ask(mut request) => {
                    request.temperature = self.temperature;
                    request.seed = self.seed;
                    match self.model.complete(*request).await {
                        Ok(reply) => dialogue.feed(&reply),
                        Err(error) if !dialogue.give_up() => return Err(error.into()),
                        Err(_) => {}
                    }
                }
                Step::Done(result) => {
                    let usage = dialogue.usage();
                    return result.map(|reading| (reading, usage)).map_err(|fault| DreamError::Reply { fault, usage });
                }
            }
        }
        Err(DreamError::Reply { fault: ReplyFault::Empty, usage: dialogue.usage() })
    }
}
