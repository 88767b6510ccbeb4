package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// Served decides whether a repository is served. The names of one that is are known for its
// ID, and its owner's, from then on. Every message is decided about before anything of its
// repository is read, by whoever receives it, by its names alone; and by whoever handles it.
func (p *Pipeline) Served(ctx context.Context, r github.Repo) (runs.Service, error) {
	if by := p.Serves.Decide(r, runs.Known{}); !by.Allowed() {
		return by, nil // no records for strangers
	}
	owner := "served/" + strings.ToLower(r.Owner)
	name := owner + "/" + strings.ToLower(r.Name)
	for {
		var k runs.Known
		wasOwner, err := p.known(ctx, owner, &k.Owner)
		if err != nil {
			return runs.Service{}, err
		}
		wasName, err := p.known(ctx, name, &k.Repo)
		if err != nil {
			return runs.Service{}, err
		}
		s := p.Serves.Decide(r, k)
		if !s.Allowed() || s.Known == k {
			return s, nil
		}
		if s.Known.Owner != k.Owner {
			_, err = p.Records.Put(ctx, owner, encode(s.Known.Owner), wasOwner)
		}
		if err == nil && s.Known.Repo != k.Repo {
			_, err = p.Records.Put(ctx, name, encode(s.Known.Repo), wasName)
		}
		if !errors.Is(err, ErrConflict) { // whoever was first has said whose the name is
			return s, err
		}
	}
}

// known reads which ID a name is known for, if any.
func (p *Pipeline) known(ctx context.Context, key string, id *int64) (Version, error) {
	rec, err := p.Records.Get(ctx, key)
	if err == nil && rec.Version != "" {
		if err = json.Unmarshal(rec.Value, id); err != nil {
			err = fmt.Errorf("read %s: the record is damaged: %w", key, err)
		}
	}
	return rec.Version, err
}

// notServed is what is noted of a repository that is not served.
func notServed(r github.Repo, s runs.Service) error {
	var why []string
	for _, x := range s.Reasons {
		why = append(why, x.Text+" "+x.Remedy)
	}
	return fmt.Errorf("%s is not served: %s", r, strings.Join(why, " "))
}

// turnAway notes that a message is of a repository that is not served, and says so in a
// check run of the head that was pushed: one, however often that is asked for. Nothing
// else is done, and what fails is not tried again.
func (p *Pipeline) turnAway(ctx context.Context, m Message, s runs.Service) {
	p.log(notServed(m.Pull.Repo, s))
	if m.Kind != Pushed {
		return
	}
	if err := p.checkNotServed(ctx, m, s); err != nil {
		p.log(fmt.Errorf("say that %s is not served: %w", m.Pull.Repo, err))
	}
}

func (p *Pipeline) checkNotServed(ctx context.Context, m Message, s runs.Service) error {
	hub, err := p.Connect(m.Pull)
	if err != nil {
		return err
	}
	pull, err := hub.PullRequest(ctx, m.Pull.Number)
	if err != nil {
		return err
	}
	page := comment.NotServed{Reasons: s.Reasons}
	_, err = hub.PutCheck(ctx, 0, github.Check{
		Name: strings.TrimSuffix(runs.CheckPrefix, "/"), SHA: pull.Head.SHA, ExternalID: strconv.Itoa(pull.Number),
		Status: github.CheckCompleted, Conclusion: github.ConcludedNeutral, Title: page.Title(), Summary: page.Summary(),
	})
	return err
}

func (p *Pipeline) log(err error) {
	if p.Log != nil {
		p.Log(err)
	}
}
