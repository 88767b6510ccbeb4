package githubtest

import (
	"strings"
	"sync"

	"github.com/lockstep-iac/lockstep/github/githubtest/apps"
	"github.com/lockstep-iac/lockstep/github/githubtest/internal/commits"
	"github.com/lockstep-iac/lockstep/github/githubtest/internal/hooks"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// The world is the state that all repositories of a Hub share. Its lock guards everything that belongs to the
// Hub. Exported methods and API handlers take the lock; all other functions require that the caller has it.
type world struct {
	mu       sync.Mutex
	log      *storyLog
	outbox   *hooks.Outbox
	app      *apps.Several
	registry apps.Registry
	history  commits.History
	users    map[string]*user
	former   formerNames
}

func newWorld(o Options) *world {
	w := &world{
		log: newLog(o.OnEdit, o.Now), app: apps.First(o.AppID, o.AppName), history: commits.History{}, users: map[string]*user{}, former: formerNames{},
	}
	w.outbox = hooks.New(o.Webhook, o.Secret, w.log.Now, o.Transport)
	w.outbox.Lean = o.Lean
	w.users[w.app.Login()] = &user{login: w.app.Login(), id: 900, bot: true}
	return w
}

// lock takes the lock and returns the function that releases it.
func (w *world) lock() func() {
	w.mu.Lock()
	return w.mu.Unlock
}

// A user is a person or an App with a login.
type user struct {
	login string
	id    int64
	bot   bool
}

// person returns the user with a login, and creates the user if needed. Only the logins of Apps end in "[bot]".
func (w *world) person(login string) *user {
	u := w.users[login]
	if u == nil {
		u = &user{login: login, id: w.log.nextID(), bot: strings.HasSuffix(login, "[bot]")}
		w.users[login] = u
	}
	return u
}

// self returns the user of the active App.
func (w *world) self() *user { return w.person(w.app.Login()) }

// ours returns the user as whom the Hub's App acts: the login, and the user as JSON.
func (w *world) ours() (login string, user rest.Object) {
	u := w.person(w.app.Slug + "[bot]")
	return u.login, u.json()
}

func (u *user) json() rest.Object { return userJSON(u.login, u.id, u.bot) }
