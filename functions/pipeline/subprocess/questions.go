package subprocess

import (
	"github.com/aws/aws-sdk-go-v2/aws"

	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/internal/redacting"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/github"
)

// maxQuestions is the maximum number of a child's questions. It is more than the number of modules that a
// configuration may call.
const maxQuestions = 2000

// converse gives the child its order, and answers its questions until it has a result. After any other error
// than errShape, the child has ended.
func (c *call) converse(ctx context.Context) (result, error) {
	if err := send(c.out, c.order); err != nil {
		return result{}, err
	}
	for n := 0; n < maxQuestions; n++ {
		var q question
		if err := receive(c.in, &q); err != nil {
			return result{}, err
		}
		if q.Kind == isProgress {
			n-- // Reports of progress do not count as questions: a child may send many, and most are not passed on.
		}
		if q.Kind == isResult {
			if q.Result == nil {
				return result{}, errShape
			}
			return *q.Result, nil
		}
		a, err := c.answer(ctx, q)
		if err != nil {
			return result{}, err
		}
		if err := send(c.out, a); err != nil {
			return result{}, err
		}
	}
	return result{}, errShape
}

// progressEvery is the shortest interval at which the progress of a plan or an apply is passed on.
const progressEvery = 4 * time.Second

// progress passes the progress of a plan or an apply to the job's Progress, at most once in progressEvery. A child reports
// its progress every few seconds, so a report that is not passed on has a successor. Nothing follows
// the last report.
func (c *call) progress(p comment.Ongoing) {
	c.far, p.Planning = p.Progress, c.order.Action == plans
	if c.last {
		return
	}
	c.last = p.Last
	if tell := c.order.Job.Progress; tell != nil && (p.Last || time.Since(c.told) >= progressEvery) {
		c.told = time.Now()
		tell(p.Bounded(c.told, c.clean))
	}
}

// tellEnd passes the result of an apply to the job's function Ended.
func (c *call) tellEnd(o jobs.Outcome) error {
	tell := c.order.Job.Ended
	if tell == nil {
		return nil
	}
	o.Report = c.clean(o.Report)
	return tell(o)
}

// answer answers a question. The error is errShape if the child has no right to ask the question.
func (c *call) answer(ctx context.Context, q question) (a answer, err error) {
	if c.permitted {
		// These questions are answered even if the child was told to stop, because it must complete changes in
		// progress and the state.
		ctx = context.WithoutCancel(ctx)
	}
	if c.order.Job.Snapshot != nil && !slices.Contains(unprivileged, q.Kind) {
		return a, errShape
	}
	if (c.order.Action == units || c.order.Action == prepares) && q.Kind != isProtection {
		return a, errShape
	}
	if c.order.Action == steps && q.Kind != isProtection && (q.Kind != isEnvironment || !c.order.Step.PlanRole) {
		return a, errShape
	}
	if q.Kind == isPermit {
		if c.permit == nil || c.order.Action != applies {
			return a, errShape
		}
		return c.permits(q.Present)
	}
	row, known := answers[q.Kind]
	if !known || row.of != nil && !slices.Contains(row.of, c.order.Action) || row.may != nil && !row.may(c, q) {
		return a, errShape
	}
	if err = row.give(c, ctx, q, &a); errors.Is(err, errShape) {
		return a, errShape
	}
	a.Error = failed(err)
	return a, nil
}

// An answering says which children may send a question, and how the question is answered. A child may send it
// if the child's action is listed and the condition is true. A nil list means all actions.
type answering struct {
	of   []action
	may  func(*call, question) bool
	give func(*call, context.Context, question, *answer) error
}

// answers lists how each kind of question is answered, except the permit.
var answers = map[kind]answering{
	isEnvironment: {give: (*call).environment},
	isSecrets: {
		of: []action{plans, applies, checks, recovers, snapshots, queries, shows},
		give: func(c *call, ctx context.Context, _ question, a *answer) (err error) {
			a.Secrets, err = c.vault(ctx)
			return err
		},
	},
	isCredentials: {give: func(c *call, ctx context.Context, _ question, a *answer) (err error) {
		a.Credentials, err = c.credentials(ctx, &c.session, accessOf(c.order.Action))
		return err
	}},
	isKeys: {
		may: func(c *call, _ question) bool {
			return !slices.Contains([]action{unlocks, discovers, inputs, looks}, c.order.Action)
		},
		give: func(c *call, ctx context.Context, _ question, a *answer) (err error) {
			a.Credentials, err = c.credentials(ctx, &c.keys, jobs.Keys)
			return err
		},
	},
	isRescue: { // the name becomes part of a key or a path
		of:   []action{applies},
		may:  func(_ *call, q question) bool { return q.Name != "" && filepath.Base(q.Name) == q.Name },
		give: (*call).rescue,
	},
	isFetch: {give: func(c *call, ctx context.Context, q question, a *answer) (err error) {
		a.Text, err = c.fetch(ctx, q)
		return err
	}},
	isPackage: {give: func(c *call, ctx context.Context, q question, a *answer) (err error) {
		a.Text, err = c.address(ctx, q.Package)
		return err
	}},
	isKeep: {give: func(c *call, ctx context.Context, q question, _ *answer) error { return c.keep(ctx, q.Package, q.File) }},
	isGate: {give: func(c *call, ctx context.Context, q question, a *answer) (err error) {
		a.Judgement, err = c.gate(ctx, q)
		return err
	}},
	isMemory: {give: func(c *call, _ context.Context, q question, _ *answer) error { c.remember(q.Data); return nil }},
	isState: {give: func(c *call, _ context.Context, _ question, _ *answer) error {
		// A plan takes no lock. If the state has a lock of the same owner, it belongs to an apply, and must not
		// be released.
		c.locked = c.order.Action == applies
		return nil
	}},
	isProgress: {
		of:   []action{plans, applies},
		may:  func(c *call, _ question) bool { return c.permitted || c.order.Action == plans },
		give: func(c *call, _ context.Context, q question, _ *answer) error { c.progress(q.Progress); return nil },
	},
	isEnded: {
		of:  []action{applies},
		may: func(c *call, _ question) bool { return c.permitted && !c.ended },
		give: func(c *call, _ context.Context, q question, _ *answer) error {
			c.ended = true
			return c.tellEnd(q.Outcome)
		},
	},
	isProtection: {give: func(c *call, _ context.Context, q question, _ *answer) error {
		if e := c.engine; e.Protection != nil {
			e.once.Do(func() { e.Protection(q.Protection) })
		}
		return nil
	}},
}

// environment returns the environment of plugins.
func (c *call) environment(ctx context.Context, _ question, a *answer) (err error) {
	e, j := c.engine, c.order.Job
	c.programs = true
	if j.Grants.Provisioners || j.Grants.External {
		e.used.Store(true)
	}
	if e.PluginEnv != nil && c.rights() {
		a.Env, err = e.PluginEnv(ctx, j)
	}
	if c.order.Action == steps { // a program prints what it likes
		c.secrets = environmentSecrets(a.Env)
	}
	return err
}

// environmentSecrets returns the secrets among environment variables, by their names.
func environmentSecrets(environ []string) map[string]string {
	out := map[string]string{}
	for i, s := range redacting.SecretsIn(environ) {
		out[fmt.Sprint(i)] = s
	}
	return out
}

// rescue stores a state that could not be written.
func (c *call) rescue(ctx context.Context, q question, a *answer) (err error) {
	if c.engine.Rescue == nil {
		return errors.New("there is no place for such states")
	}
	a.Text, err = c.engine.Rescue(context.WithoutCancel(ctx), c.order.Job, q.Name, q.Data)
	return err
}

// vault returns the secrets of the job. It also reads the setting for the encryption of the job's states, which
// may contain a secret. All these secrets are read once, and are removed from all later texts of the child.
func (c *call) vault(ctx context.Context) (map[string]string, error) {
	if c.secrets != nil {
		return c.secrets, nil
	}
	all := map[string]string{}
	if c.engine.Secrets != nil {
		own, err := c.engine.Secrets(ctx, c.order.Job)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, own)
	}
	maps.Copy(all, c.order.Job.Environment.Encryption())
	c.secrets = all
	return all, nil
}

// clean removes Lockstep's own secrets and the job's secrets from a text of the child.
func (c *call) clean(text string) string {
	return c.engine.hide(text, slices.Collect(maps.Values(c.secrets)))
}

// permits decides whether the child may apply its plan. A child may request that once. If the answer was to
// plan again, the child may request it once more, with the new plan.
func (c *call) permits(now jobs.BeforeApply) (a answer, err error) {
	if c.again != (now.Again != nil) {
		return a, errShape
	}
	permit := c.permit
	c.permit = nil
	if now.Again != nil {
		now.Again.Plan.Report, now.Again.Plan.Full = c.clean(now.Again.Plan.Report), c.clean(now.Again.Plan.Full)
		now.Again.Difference = c.clean(now.Again.Difference)
	}
	a.Permit = permit(now)
	if a.Permit != jobs.Refused && a.Permit != jobs.Permitted && !c.again {
		c.permit, c.again = permit, true
	}
	c.permitted = a.Permit == jobs.Permitted
	return a, nil
}

// credentials returns the credentials of a session for the job's state. It gets new credentials when the last
// ones have expired.
func (c *call) credentials(ctx context.Context, session *aws.CredentialsProvider, access jobs.Access) (*aws.Credentials, error) {
	if c.engine.Credentials == nil {
		return nil, nil
	}
	if *session == nil {
		j := c.order.Job
		j.Access = access
		p, err := c.engine.Credentials(ctx, j)
		if err != nil {
			return nil, err
		}
		*session = p
	}
	got, err := (*session).Retrieve(ctx)
	if err != nil {
		return nil, err
	}
	return &got, nil
}

// accessOf returns the access to the state that the session for an action has.
func accessOf(a action) jobs.Access {
	switch a {
	case applies, recovers:
		return jobs.Writes
	case unlocks:
		return jobs.Unlocks
	}
	return jobs.Reads
}

// gate sends the child's plan to one of the job's gates, and returns the gate's judgement. The child can name
// only a gate of its own job.
func (c *call) gate(ctx context.Context, q question) (*runs.Judgement, error) {
	j := c.order.Job
	i := slices.IndexFunc(j.Gates, func(g requirements.Gate) bool { return g.Name == q.Gate })
	if i < 0 || !slices.Contains([]action{plans, applies, checks}, c.order.Action) {
		return nil, errShape
	}
	if c.engine.Gate == nil {
		return nil, errors.New("gates cannot be asked here")
	}
	v, err := c.engine.Gate(ctx, j, j.Gates[i], q.Data)
	return &v, err
}

// fetch fetches a repository for the child, into a directory that the parent chooses.
func (c *call) fetch(ctx context.Context, q question) (string, error) {
	if c.engine.Fetch == nil {
		return "", &Absent{"modules of other repositories are not available here"}
	}
	c.fetched++
	dir := filepath.Join(c.order.Fetched, fmt.Sprint(c.fetched))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	err := c.engine.Fetch(ctx, c.order.Job, q.Owner, q.Repo, q.Ref, dir)
	if final := new(github.FinalError); errors.As(err, &final) {
		err = &Absent{final.Error()}
	}
	return dir, err
}

// maxMemory is the maximum size in bytes of the data that a child stores for later children.
const maxMemory = 1 << 20

// remember stores data for later children, unless programs of this child could have forged it.
func (c *call) remember(data []byte) {
	if c.programs || len(data) > maxMemory {
		return
	}
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	c.engine.memory = data
}
