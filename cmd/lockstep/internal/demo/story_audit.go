package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

var auditTrail = Story{
	Name:  "audit",
	Shows: "The audit records prove what was applied, and show each edit.",
	scenes: append(firstNetwork[:len(firstNetwork):len(firstNetwork)],
		scene{title: "an auditor reads and checks the records", do: by(func(*githubtest.Repository) {}), verify: audited},
	),
}

// audited prints the audit records, and checks them. It then checks a copy in which somebody has changed a login.
func audited(ctx context.Context, w *World) error {
	honest, forged := map[string]*audit.Verification{}, audit.Verification{}
	err := w.machine.Data.Chains.Each(ctx, func(chain string, n int, data []byte) error {
		r, err := audit.Decode(data)
		if err != nil {
			return err
		}
		w.narrate("record %d: %s", n, r.Line())
		if honest[chain] == nil {
			honest[chain] = &audit.Verification{Now: time.Now()}
		}
		honest[chain].Add(chain, n, data)
		if len(honest) == 1 {
			forged.Add(chain, n, bytes.Replace(data, []byte(`"By":"alice","Repo"`), []byte(`"By":"carol","Repo"`), 1))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for chain, v := range honest {
		if found := v.End(); len(found) > 0 {
			return fmt.Errorf("the records %s are not in order: %s", chain, found[0].Text)
		}
	}
	w.narrate("the records are in order: each apply was allowed, and nobody has changed a record")
	found := forged.End()
	if len(found) == 0 {
		return errors.New("an edited record is not noticed")
	}
	w.narrate("in a copy, somebody writes carol in the place of alice. Record %d: %s", found[0].N, found[0].Text)
	return nil
}
