//go:debug rsa1024min=0

package simulation

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

var (
	histories = flag.Int("histories", 60, "the number of whole histories")
	briefs    = flag.Int("briefs", 560, "the number of brief histories")
	aims      = flag.Int("aims", 250, "the number of aimed histories")
	sharings  = flag.Int("sharings", 60, "the number of aimed histories whose projects share check runs")
	crews     = flag.Int("teams", 100, "the number of histories of a team")
	absences  = flag.Int("absences", 30, "the number of histories in which the App is taken off at times")
	from      = flag.Uint64("from", 1, "the first seed")
	verbose   = false
)

func init() { flag.BoolVar(&verbose, "effects", false, "trace each effect") }

// scratch is the directory in which checkouts are made, in memory where there is such a file system.
var scratch string

// TestMain has garbage collected when there is a gigabyte of it: a history is small, and is garbage at its end.
func TestMain(m *testing.M) {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(1 << 30)
	var err error
	if scratch, err = os.MkdirTemp("/dev/shm", "simulation"); err != nil {
		scratch, err = os.MkdirTemp("", "simulation")
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

// found are seeds of histories that have found a defect.
var found = []uint64{21, 126, 135, 215, 285, 303, 306, 553, 900586, 904884, 908974, 1000007, 1000151, 9000109, 9000131, 9010638, 9010703, 9020367, 31000379, 31000826, 51000451, 54000044, 62000145, 70000375, 70000407, 81000595, 82000239, 83000231, 85001377, 100020091, 100030276, 100050215, 100110438, 100120469, 200010649, 200031232, 200035705, 100202224, 100202263, 100212191}

// foundBrief are those of brief ones.
var foundBrief = []uint64{1282, 2865, 4143, 91000724, 96008895, 96010897, 97005514, 97100871, 97111921, 100010791, 100011874, 100033762, 100060387, 200300220}

// foundAimed are those of aimed ones.
var foundAimed = []uint64{10000111, 22000664, 24001294, 28000186, 28003146, 28061029, 100064107, 100093579, 100150034, 200014683, 200043966, 28704737, 200101315, 1575, 2218, 200330345, 1975}

// foundTeams are those of a team's, which fail with mutants of package threats.
var foundTeams = []uint64{15, 31, 47, 60, 151, 177, 211}

// foundInBucket are those of aimed ones with their states in S3, before which all states were local.
var foundInBucket = []uint64{200419554, 200400767, 200605774, 200701002}

// foundAway are those in which the App is taken off at times.
var foundAway = []uint64{288703001, 288703043}

// TestFound plays the histories that have found a defect once more.
func TestFound(t *testing.T) {
	again := func(t *testing.T, seeds []uint64, l length) {
		for _, seed := range seeds {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				play(t, seed, l)
			})
		}
	}
	again(t, found, whole.locally())
	t.Run("brief", func(t *testing.T) { again(t, foundBrief, brief.locally()) })
	t.Run("aimed", func(t *testing.T) { again(t, foundAimed, aimed.locally()) })
	t.Run("teams", func(t *testing.T) { again(t, foundTeams, teams.locally()) })
	t.Run("bucket", func(t *testing.T) { again(t, foundInBucket, aimed) })
	t.Run("away", func(t *testing.T) { again(t, foundAway, away) })
}

const (
	enough = 10   // failures tell what is wrong
	batch  = 1000 // histories are in memory at once, all but a few of them as not begun
)

// TestHistories plays histories, until enough have failed: `make simulate` plays many.
func TestHistories(t *testing.T) { playAll(t, *from, *histories, whole) }

// TestBriefHistories plays brief ones.
func TestBriefHistories(t *testing.T) { playAll(t, *from, *briefs, brief) }

// TestAimedHistories plays aimed ones.
func TestAimedHistories(t *testing.T) { playAll(t, *from, *aims, aimed) }

// TestSharingHistories plays aimed ones whose projects share check runs.
func TestSharingHistories(t *testing.T) { playAll(t, *from, *sharings, sharing) }

// TestTeamHistories plays those of a team.
func TestTeamHistories(t *testing.T) {
	if n := playAll(t, *from, *crews, teams); *crews >= 100 && n < *crews*2/5 {
		t.Errorf("%d of %d histories change an object", n, *crews)
	}
}

// TestAwayHistories plays those in which the App is taken off at times.
func TestAwayHistories(t *testing.T) { playAll(t, *from, *absences, away) }

// A length is that of a history.
type length struct {
	acts, further int // at least so many acts, and fewer than so many further ones
	mishaps       int // fewer than so many
	rarity        int // of effects, one is a mishap while there are some left
	rest          int // so many rounds of the janitor without news are its end
	// aimed is whether most acts lead to an apply, and most mishaps come after it has begun.
	aimed bool
	// team is whether it is a team's repository, and people wait for the plan that they are about to apply or merge.
	team bool
	// away is whether the App is taken off the repository at times.
	away bool
	// sharing is whether projects share check runs.
	sharing bool
	// local is whether its states are, whatever its seed.
	local bool
}

// locally returns the length of histories whose states are local.
func (l length) locally() length { l.local = true; return l }

// Whole histories have what comes of many acts, brief ones are more in the same time: most defects need few acts. One of
// eight brief ones changes an object, one of four aimed ones, and half of a team's.
var (
	whole = length{acts: 8, further: 16, mishaps: 12, rarity: 150, rest: 4}
	brief = length{acts: 2, further: 4, mishaps: 4, rarity: 50, rest: 2}
	aimed = length{acts: 3, further: 4, mishaps: 6, rarity: 60, rest: 2, aimed: true}
	teams = length{acts: 4, further: 5, mishaps: 6, rarity: 60, rest: 2, aimed: true, team: true}
	// Aimed ones in which projects share check runs.
	sharing = length{acts: 3, further: 6, mishaps: 8, rarity: 50, rest: 2, aimed: true, sharing: true}
	away    = length{acts: 6, further: 8, mishaps: 6, rarity: 100, rest: 13, away: true} // the janitor looks for what has ended once an hour
)

// playAll plays histories, and returns the number of those that change an object.
func playAll(t *testing.T, first uint64, count int, l length) int {
	var failed, applied atomic.Int32
	for begin, end := first, first+uint64(count); begin < end; begin += batch {
		t.Run(fmt.Sprintf("from %d", begin), func(t *testing.T) {
			for seed := begin; seed < min(begin+batch, end); seed++ {
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					t.Parallel()
					if failed.Load() >= enough {
						t.Fatal("not played: enough histories have failed")
					}
					defer func() {
						if t.Failed() {
							failed.Add(1)
						}
					}()
					if play(t, seed, l) {
						applied.Add(1)
					}
				})
			}
		})
	}
	return int(applied.Load())
}

// play plays the history of a seed to its end, and reports whether it changes an object.
func play(t *testing.T, seed uint64, l length) (applied bool) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, seed, l)
		s.toTheEnd()
		for _, bug := range s.bugs {
			t.Error(bug)
		}
		if t.Failed() || s.effects {
			t.Log(s.text())
		}
		for _, st := range s.states {
			applied = applied || st.serial > 0
		}
		s.leaveNothing()
	})
	return applied
}

// TestSameHistory holds that a seed has one history, so that it finds its defect again.
func TestSameHistory(t *testing.T) {
	for seed := uint64(1); seed <= 30; seed++ {
		var first []string
		for range 2 {
			synctest.Test(t, func(t *testing.T) {
				s := begin(t, seed, []length{aimed, teams}[seed%2])
				s.effects = true
				s.toTheEnd()
				if first == nil {
					first = s.trace
				} else if diff := cmp.Diff(first, s.trace); diff != "" {
					t.Errorf("seed %d: %s", seed, diff)
				}
				s.leaveNothing()
			})
		}
	}
}

// begin begins the history of a seed.
func begin(t *testing.T, seed uint64, l length) *simulation {
	s := prepare(seed, l)
	s.setUpTeam()
	s.setUp(t, s.firstFiles())
	s.hosts()
	return s
}

// prepare makes a history without a repository.
func prepare(seed uint64, l length) *simulation {
	s := &simulation{Rand: rand.New(rand.NewPCG(seed, 0)), seed: seed, length: l, effects: verbose, arrived: make(chan struct{}, 1)}
	s.people = &people{acts: l.acts + s.IntN(l.further), mishaps: s.IntN(l.mishaps), pushed: map[string][]int{}, asPushed: map[int][]string{}}
	s.records = &records{locked: map[string]time.Time{}, told: map[string]bool{}}
	s.queue = &queue{sent: map[string]time.Time{}, abandoned: map[int]bool{}, buried: map[int]bool{}}
	s.cloud = &cloud{states: map[string]*state{}, ended: map[string]bool{}, beginnings: map[string]time.Time{}}
	return s
}

// setUp makes the repository, with the files of its base branch.
func (s *simulation) setUp(t *testing.T, files githubtest.Files) {
	var err error
	if s.hub, err = newHub(s, files); err != nil {
		t.Fatal(err)
	}
}

// toTheEnd plays a history until everything has come to rest, and holds the truth of its end.
func (s *simulation) toTheEnd() {
	s.play()
	s.rest()
	if len(s.bugs) == 0 {
		s.atTheEnd()
	}
}

// leaveNothing ends all processes.
func (s *simulation) leaveNothing() {
	for _, p := range s.processes {
		s.kill(p, "the end")
	}
	time.Sleep(24 * time.Hour) // for their timers
}

// play lets people act, messages travel and processes work, in any order.
func (s *simulation) play() {
	s.round()
	nextRound, nextAct := time.Now(), 0
	for steps := 0; s.acts > 0 || steps < nextAct+3000; steps++ {
		if s.acts == 0 && len(s.pending()) == 0 && len(s.letters) == 0 && s.hub.Waiting() == 0 {
			return
		}
		if time.Now().After(nextRound) {
			s.round()
			nextRound = time.Now().Add(10 * time.Minute)
		}
		switch n := s.IntN(100); {
		case steps >= nextAct && s.acts > 0:
			s.act()
			// At once, in the middle of it, or after the result has come.
			nextAct = steps + s.IntN([]int{5, 100, 400, 1200}[s.IntN(4)])
			if s.soon {
				s.soon, nextAct = false, steps+s.IntN(100)
			}
		case n < 8 && s.hub.Waiting() > 0:
			s.arrive()
		case n < 20:
			if ready := s.ready(); len(ready) > 0 {
				s.invoke(ready[s.IntN(len(ready))])
			}
		case n < 90 && s.step():
		default:
			s.pass(time.Duration(s.IntN(20000)) * time.Millisecond)
		}
	}
}

// arrive lets a webhook arrive, or not.
func (s *simulation) arrive() {
	which := 0
	if !s.calm && s.IntN(4) == 0 {
		which = s.IntN(s.hub.Waiting())
	}
	if !s.calm {
		switch n := s.IntN(40); {
		case n == 0 && s.mishaps > 0:
			s.mishaps--
			s.note("a webhook is lost")
			s.hub.LoseDeliveries(1)
		case n == 1 && s.mishaps > 0:
			s.mishaps--
			s.note("trial merges are late")
			s.repo.LagMerges(1 + s.IntN(4))
		case n == 2 && s.mishaps > 0:
			s.mishaps--
			s.hub.ExpireTokens()
		case n < 6:
			if all := s.hub.Deliveries(); len(all) > 0 {
				s.again(all[s.IntN(len(all))])
			}
		}
	}
	s.deliver(which)
}

// rest lets everything come to its end, without mishaps.
func (s *simulation) rest() {
	s.calm = true
	if s.length.away {
		s.install()
	}
	quiet, next := 0, time.Now()
	for range 4000 {
		for range 20000 {
			if !s.step() {
				break
			}
		}
		for s.hub.Waiting() > 0 {
			s.arrive()
			for s.step() {
			}
		}
		if ready := s.ready(); len(ready) > 0 {
			for _, l := range ready {
				s.invoke(l)
			}
			quiet = 0
			continue
		}
		if len(s.letters) > 0 {
			quiet = 0
		}
		if quiet >= s.length.rest {
			if !s.found {
				return
			}
			s.found, quiet = false, 0
		}
		s.pass(10 * time.Minute)
		if !time.Now().Before(next) {
			s.round()
			next = time.Now().Add(10 * time.Minute)
			quiet++
		}
	}
	for _, l := range s.letters {
		s.bug("%s waits for ever, after %d receives", l.ID, l.receives)
	}
	s.bug("it does not come to rest")
}
