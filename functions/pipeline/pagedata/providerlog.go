package pagedata

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A ProviderLog has the latest log lines of the providers in the last plan or apply of a project. Left is the number of
// lines that were left out. It is the value of a record.
type ProviderLog struct {
	Lines []comment.LogLine
	Left  int `json:",omitempty"`
}

// LogKey returns the key of the record with the log of a run's providers.
func LogKey(id runs.ID) string { return "log/" + id.Key() }

// logOf returns the log of a run for the page, without Lockstep's secrets; "" if there is none.
func (s Site) logOf(ctx context.Context, r runs.Run) (string, error) {
	rec, err := s.Records.Get(ctx, LogKey(r.ID))
	if err != nil || rec.Version == "" {
		return "", err
	}
	var l ProviderLog
	if err := json.Unmarshal(rec.Value, &l); err != nil {
		return "", fmt.Errorf("read %s: %w", rec.Key, err)
	}
	var b strings.Builder
	if l.Left > 0 {
		fmt.Fprintf(&b, "(%d other lines are left out)\n", l.Left)
	}
	for _, line := range l.Lines {
		b.WriteString(line.String() + "\n")
	}
	return s.censored(b.String()), nil
}
