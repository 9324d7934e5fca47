//! Whatever a protocol derives from a plan, derived once.

use circuit::plan::Plan;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

type Derived = Arc<dyn Any + Send + Sync>;

/// Derivations of plans, by their type and a number of lanes.
///
/// Each is made once for all programs of a session that share the plan, and lives as long as one of these programs.
#[derive(Clone, Default)]
pub(crate) struct PlanCache {
    session: Arc<Mutex<Vec<Known>>>,
    program: Arc<Mutex<OfProgram>>,
}

/// The derivations that a program holds, with the plans whose addresses are in the keys.
type OfProgram = HashMap<Key, (Arc<Plan>, Derived)>;

/// A type, the address of a plan that is alive, and lanes.
type Key = (TypeId, usize, usize);

/// A derivation that some program of the session may hold.
struct Known {
    key: Key,
    plan: Weak<Plan>,
    derived: Weak<dyn Any + Send + Sync>,
}

impl PlanCache {
    /// The cache of another program of the session.
    pub fn for_program(&self) -> PlanCache {
        PlanCache { session: self.session.clone(), program: Arc::default() }
    }

    /// The result of `make` for a plan and so many lanes; 0 where lanes make no difference. `make` must not ask the cache
    /// for another derivation.
    pub fn get<T: Send + Sync + 'static>(
        &self,
        plan: &Arc<Plan>,
        lanes: usize,
        make: impl FnOnce(&Plan) -> T,
    ) -> Arc<T> {
        let key = (TypeId::of::<T>(), Arc::as_ptr(plan).addr(), lanes);
        let mut program = self.program.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, derived) = program.entry(key).or_insert_with(|| (plan.clone(), self.of_session(plan, key, make)));
        derived.clone().downcast().expect("the key names the type")
    }

    fn of_session<T: Send + Sync + 'static>(
        &self,
        plan: &Arc<Plan>,
        key: Key,
        make: impl FnOnce(&Plan) -> T,
    ) -> Derived {
        let mut known = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|known| known.derived.strong_count() > 0);
        let same = |known: &&Known| known.key == key && known.plan.ptr_eq(&Arc::downgrade(plan));
        if let Some(derived) = known.iter().find(same).and_then(|known| known.derived.upgrade()) {
            return derived;
        }
        let derived: Derived = Arc::new(make(plan));
        known.push(Known { key, plan: Arc::downgrade(plan), derived: Arc::downgrade(&derived) });
        derived
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use circuit::blocks::{self, Goal};

    fn plan() -> Arc<Plan> {
        let circuit = blocks::find("equal").unwrap().circuit(&[9], Goal::Size).unwrap();
        Arc::new(Plan::new(&circuit, circuit::Order::Layered))
    }

    #[test]
    fn programs_share_what_is_derived_as_long_as_one_of_them_lives() {
        let (plan, session) = (plan(), PlanCache::default());
        let (one, other) = (session.for_program(), session.for_program());
        let ands = |cache: &PlanCache| cache.get(&plan, 0, Plan::ands);
        assert!(Arc::ptr_eq(&ands(&one), &ands(&other)));
        assert_eq!(*ands(&one), plan.ands());
        drop((one, other));
        assert_eq!(Arc::strong_count(&plan), 1);
    }

    #[test]
    fn types_lanes_and_plans_are_kept_apart() {
        let (plan, other, cache) = (plan(), plan(), PlanCache::default());
        assert_eq!(*cache.get(&plan, 0, |_| 1u8), 1);
        assert_eq!(*cache.get(&plan, 0, |_| 2u16), 2);
        assert_eq!(*cache.get(&plan, 1, |_| 3u8), 3);
        assert_eq!(*cache.get(&other, 0, |_| 4u8), 4);
        assert_eq!(*cache.get(&plan, 0, |_| 5u8), 1, "made once");
    }
}
