//! A small solver of satisfiability: whether clauses can hold together, within a bound on conflicts.
//!
//! Conflict-driven clause learning (Marques-Silva, Sakallah, *GRASP*, 1999) with two watched literals a clause (Moskewicz et
//! al., *Chaff*, 2001) and decisions in the order in which variables were last part of a conflict (Ryan, *Efficient
//! algorithms for clause-learning SAT solvers*, 2004). One question, one solver; nothing in it depends on time or chance.

/// A variable, or its complement: twice its number, and whether it is complemented.
pub type Literal = u32;

/// Conflicts after which the search begins anew with what it has learnt.
const RESTART: usize = 64;
/// No variable, no clause.
const NONE: u32 = u32::MAX;

/// What is known about clauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// They cannot hold together.
    Never,
    /// They can; the solver has values.
    Sometimes,
    /// The conflicts were not enough to tell.
    Unknown,
}

/// A clause that is looked at when a literal becomes false.
#[derive(Clone, Copy)]
struct Watch {
    clause: u32,
    /// Another of its literals: if that is true there is nothing to do.
    other: Literal,
}

#[derive(Clone, Copy)]
struct Variable {
    /// The clause that gave it its value, if any.
    reason: u32,
    level: u32,
    /// Neighbours in the order of decisions.
    earlier: u32,
    later: u32,
    /// When it was moved to the end of the order.
    stamp: u64,
    /// The value it had last.
    phase: bool,
    seen: bool,
}

pub struct Solver {
    /// Literals of all clauses, each clause after its length.
    clauses: Vec<u32>,
    watches: Vec<Vec<Watch>>,
    variables: Vec<Variable>,
    /// By literal: 1 for true, -1 for false.
    values: Vec<i8>,
    trail: Vec<Literal>,
    /// Where each level begins on the trail.
    levels: Vec<usize>,
    /// What of the trail has been looked at.
    head: usize,
    /// The last of the order; all after `next` have values.
    last: u32,
    next: u32,
    stamp: u64,
    /// Whether the clauses contradict each other without a decision.
    contradiction: bool,
}

impl Solver {
    pub fn new() -> Self {
        Solver {
            clauses: Vec::new(),
            watches: Vec::new(),
            variables: Vec::new(),
            values: Vec::new(),
            trail: Vec::new(),
            levels: Vec::new(),
            head: 0,
            last: NONE,
            next: NONE,
            stamp: 0,
            contradiction: false,
        }
    }

    /// A new variable; those that come later are decided first.
    pub fn variable(&mut self) -> Literal {
        let number = self.variables.len() as u32;
        self.stamp += 1;
        let fresh = Variable {
            reason: NONE,
            level: 0,
            earlier: self.last,
            later: NONE,
            stamp: self.stamp,
            phase: false,
            seen: false,
        };
        if self.last != NONE {
            self.variables[self.last as usize].later = number;
        }
        self.variables.push(fresh);
        self.values.extend([0, 0]);
        self.watches.extend([Vec::new(), Vec::new()]);
        (self.last, self.next) = (number, number);
        2 * number
    }

    /// Adds a clause before the search.
    pub fn clause(&mut self, literals: &[Literal]) {
        debug_assert!(self.levels.is_empty());
        let holds = |&literal: &Literal| self.values[literal as usize] > 0 || literals.contains(&(literal ^ 1));
        if literals.iter().any(holds) {
            return;
        }
        let mut open: Vec<Literal> = Vec::with_capacity(literals.len());
        for &literal in literals.iter().filter(|&&literal| self.values[literal as usize] == 0) {
            if !open.contains(&literal) {
                open.push(literal);
            }
        }
        match open[..] {
            [] => self.contradiction = true,
            [only] => {
                self.assign(only, NONE);
                self.contradiction |= self.propagate().is_some();
            }
            _ => {
                self.attach(&open);
            }
        }
    }

    /// y = a ∧ b.
    pub fn and(&mut self, y: Literal, a: Literal, b: Literal) {
        self.clause(&[y ^ 1, a]);
        self.clause(&[y ^ 1, b]);
        self.clause(&[y, a ^ 1, b ^ 1]);
    }

    /// y = a ⊕ b.
    pub fn xor(&mut self, y: Literal, a: Literal, b: Literal) {
        for flips in [0b001, 0b010, 0b100, 0b111] {
            self.clause(&[y ^ (flips & 1), a ^ (flips >> 1 & 1), b ^ (flips >> 2)]);
        }
    }

    /// The value of a literal where all clauses hold.
    pub fn value(&self, literal: Literal) -> bool {
        self.values[literal as usize] > 0
    }

    /// Whether all clauses can hold.
    pub fn solve(&mut self, most_conflicts: usize) -> Answer {
        let mut conflicts = 0;
        while !self.contradiction {
            match self.propagate() {
                Some(_) if self.levels.is_empty() => self.contradiction = true,
                Some(_) if conflicts == most_conflicts => return Answer::Unknown,
                Some(clause) => {
                    conflicts += 1;
                    self.learn(clause);
                    if conflicts.is_multiple_of(RESTART) {
                        self.back_to(0);
                    }
                }
                None => match self.undecided() {
                    Some(literal) => {
                        self.levels.push(self.trail.len());
                        self.assign(literal, NONE);
                    }
                    None => return Answer::Sometimes,
                },
            }
        }
        Answer::Never
    }

    /// The variable to decide next, with the value that it had last.
    fn undecided(&mut self) -> Option<Literal> {
        while self.next != NONE {
            let variable = self.variables[self.next as usize];
            let literal = 2 * self.next + u32::from(!variable.phase);
            if self.values[literal as usize] == 0 {
                return Some(literal);
            }
            self.next = variable.earlier;
        }
        None
    }

    fn attach(&mut self, literals: &[Literal]) -> u32 {
        let clause = self.clauses.len() as u32;
        self.clauses.push(literals.len() as u32);
        self.clauses.extend_from_slice(literals);
        self.watches[literals[0] as usize].push(Watch { clause, other: literals[1] });
        self.watches[literals[1] as usize].push(Watch { clause, other: literals[0] });
        clause
    }

    fn assign(&mut self, literal: Literal, reason: u32) {
        self.values[literal as usize] = 1;
        self.values[literal as usize ^ 1] = -1;
        let variable = &mut self.variables[literal as usize / 2];
        (variable.reason, variable.level) = (reason, self.levels.len() as u32);
        variable.phase = literal & 1 == 0;
        self.trail.push(literal);
    }

    /// Assigns what clauses demand; a clause that is broken.
    fn propagate(&mut self) -> Option<u32> {
        while let Some(&literal) = self.trail.get(self.head) {
            self.head += 1;
            let broken = literal ^ 1;
            let mut watches = std::mem::take(&mut self.watches[broken as usize]);
            let (mut kept, mut conflict) = (0, None);
            for i in 0..watches.len() {
                let watch = watches[i];
                if conflict.is_some() || self.values[watch.other as usize] > 0 {
                    watches[kept] = watch;
                    kept += 1;
                    continue;
                }
                let Some(first) = self.moved(watch.clause, broken) else { continue };
                watches[kept] = Watch { clause: watch.clause, other: first };
                kept += 1;
                match self.values[first as usize] {
                    0 => self.assign(first, watch.clause),
                    -1 => conflict = Some(watch.clause),
                    _ => {}
                }
            }
            watches.truncate(kept);
            self.watches[broken as usize] = watches;
            if conflict.is_some() {
                return conflict;
            }
        }
        None
    }

    /// Watches another literal of a clause in place of one that is false; if there is none, the other watched literal.
    fn moved(&mut self, clause: u32, broken: Literal) -> Option<Literal> {
        let range = self.range(clause);
        let literals = &mut self.clauses[range];
        if literals[0] == broken {
            literals.swap(0, 1);
        }
        let first = literals[0];
        if self.values[first as usize] > 0 {
            return Some(first);
        }
        let Some(place) = literals[2..].iter().position(|&literal| self.values[literal as usize] >= 0) else {
            return Some(first);
        };
        literals.swap(1, place + 2);
        self.watches[literals[1] as usize].push(Watch { clause, other: first });
        None
    }

    fn range(&self, clause: u32) -> std::ops::Range<usize> {
        let start = clause as usize + 1;
        start..start + self.clauses[clause as usize] as usize
    }

    /// Learns from a broken clause: the first assignment of the last level through which all that follow from it go must have
    /// been wrong, given those of earlier levels.
    fn learn(&mut self, clause: u32) {
        let level = self.levels.len() as u32;
        let (mut learnt, mut marked, mut open) = (vec![0], Vec::new(), 0);
        let (mut clause, mut at) = (clause, self.trail.len());
        loop {
            for place in self.range(clause) {
                let literal = self.clauses[place];
                let variable = &mut self.variables[literal as usize / 2];
                if variable.seen || variable.level == 0 {
                    continue;
                }
                variable.seen = true;
                marked.push(literal / 2);
                if variable.level == level {
                    open += 1;
                } else {
                    learnt.push(literal);
                }
            }
            let literal = loop {
                at -= 1;
                if self.variables[self.trail[at] as usize / 2].seen {
                    break self.trail[at];
                }
            };
            open -= 1;
            if open == 0 {
                learnt[0] = literal ^ 1;
                break;
            }
            clause = self.variables[literal as usize / 2].reason;
        }
        self.bump(&marked);
        self.assert(learnt);
    }

    /// Those of a conflict are decided first from now on, in the order that they had.
    fn bump(&mut self, marked: &[u32]) {
        let mut by_stamp: Vec<(u64, u32)> =
            marked.iter().map(|&number| (self.variables[number as usize].stamp, number)).collect();
        by_stamp.sort_unstable();
        for (_, number) in by_stamp {
            self.variables[number as usize].seen = false;
            self.move_last(number);
        }
    }

    fn move_last(&mut self, number: u32) {
        if number == self.last {
            return;
        }
        let Variable { earlier, later, .. } = self.variables[number as usize];
        if earlier != NONE {
            self.variables[earlier as usize].later = later;
        }
        self.variables[later as usize].earlier = earlier;
        self.stamp += 1;
        self.variables[self.last as usize].later = number;
        let variable = &mut self.variables[number as usize];
        (variable.earlier, variable.later, variable.stamp) = (self.last, NONE, self.stamp);
        self.last = number;
    }

    /// Goes back to where all but the first literal of what was learnt are false, and makes the first true.
    fn assert(&mut self, mut learnt: Vec<Literal>) {
        let level = |solver: &Self, literal: Literal| solver.variables[literal as usize / 2].level;
        let Some(second) = (1..learnt.len()).max_by_key(|&place| level(self, learnt[place])) else {
            self.back_to(0);
            return self.assign(learnt[0], NONE);
        };
        learnt.swap(1, second);
        self.back_to(level(self, learnt[1]) as usize);
        let clause = self.attach(&learnt);
        self.assign(learnt[0], clause);
    }

    /// Takes back all decisions but the first `level`.
    fn back_to(&mut self, level: usize) {
        if level >= self.levels.len() {
            return;
        }
        let start = self.levels[level];
        for &literal in &self.trail[start..] {
            self.values[literal as usize] = 0;
            self.values[literal as usize ^ 1] = 0;
        }
        // Whatever is latest in the order may be undecided again.
        self.next = self.last;
        self.trail.truncate(start);
        self.levels.truncate(level);
        self.head = start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether some values of the variables make all clauses true.
    fn by_trying(variables: u32, clauses: &[Vec<Literal>]) -> bool {
        let holds = |values: u32, literal: Literal| values >> (literal / 2) & 1 != literal & 1;
        (0..1 << variables)
            .any(|values| clauses.iter().all(|clause| clause.iter().any(|&literal| holds(values, literal))))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn as_by_trying(
            variables in 3u32..10,
            clauses in prop::collection::vec((any::<[u8; 3]>(), 1usize..4, 0u32..8), 0..60),
        ) {
            let mut solver = Solver::new();
            let numbered: Vec<Literal> = (0..variables).map(|_| solver.variable()).collect();
            let clause = |&(picks, length, flips): &([u8; 3], usize, u32)| -> Vec<Literal> {
                let chosen = picks[..length].iter().map(|&pick| u32::from(pick) % variables);
                chosen.enumerate().map(|(i, pick)| numbered[pick as usize] ^ (flips >> i & 1)).collect()
            };
            let clauses: Vec<Vec<Literal>> = clauses.iter().map(clause).collect();
            clauses.iter().for_each(|clause| solver.clause(clause));
            let answer = solver.solve(usize::MAX);
            prop_assert_eq!(answer == Answer::Sometimes, by_trying(variables, &clauses));
            if answer == Answer::Sometimes {
                prop_assert!(clauses.iter().all(|clause| clause.iter().any(|&literal| solver.value(literal))));
            }
        }
    }

    /// More pigeons than holes.
    fn pigeons(solver: &mut Solver, holes: usize) {
        let sits: Vec<Vec<Literal>> = (0..=holes).map(|_| (0..holes).map(|_| solver.variable()).collect()).collect();
        sits.iter().for_each(|pigeon| solver.clause(pigeon));
        for hole in 0..holes {
            for (i, one) in sits.iter().enumerate() {
                sits[..i].iter().for_each(|other| solver.clause(&[one[hole] ^ 1, other[hole] ^ 1]));
            }
        }
    }

    #[test]
    fn conflicts_are_bounded() {
        let answer = |holes, most| {
            let mut solver = Solver::new();
            pigeons(&mut solver, holes);
            solver.solve(most)
        };
        assert_eq!(answer(5, 100_000), Answer::Never);
        assert_eq!(answer(9, 50), Answer::Unknown);
    }
}
