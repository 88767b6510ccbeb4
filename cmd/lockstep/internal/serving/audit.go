package serving

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/awsstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// auditOptions are the options that say where audit records are.
type auditOptions struct{ data, bucket, table string }

func (o *auditOptions) add(f *cli.Flags) {
	f.StringVar(&o.data, "data", "lockstep-data", "data directory of lockstep serve")
	f.StringVar(&o.bucket, "bucket", "", "bucket of a deployment on AWS: the output AuditBucket of its stack")
	f.StringVar(&o.table, "table", "", "table of a deployment on AWS: the output RecordsTable of its stack")
}

// auditRecords are the records of all chains.
type auditRecords struct {
	// each calls visit with each record, chain by chain and in the order of the numbers.
	each func(ctx context.Context, visit func(chain string, n int, data []byte) error) error
	// records has the places that applies have noted; nil if there are none.
	records pipeline.Records
	close   func()
}

// open opens audit records: those in the directory dir, a copy of a bucket, or those of the options if dir is "".
func (o auditOptions) open(a *cli.App, dir string) (auditRecords, error) {
	none := func() {}
	switch {
	case dir != "" && (o.bucket != "" || o.table != ""):
		return auditRecords{}, cli.Hinted(fmt.Errorf("%s is a copy, which is read without a bucket and a table", dir), "leave out the directory, or -bucket and -table")
	case o.table != "" && o.bucket == "":
		return auditRecords{}, cli.Hinted(errors.New("-table is the table of a bucket, and no bucket is given"), "add -bucket=NAME: the output AuditBucket of the stack")
	case dir != "":
		at := a.Path(dir)
		if s, err := os.Stat(at); err != nil || !s.IsDir() {
			return auditRecords{}, cli.Hinted(fmt.Errorf("there is no directory %s", dir), "give a directory with a copy of the audit bucket, made with `aws s3 sync s3://BUCKET DIR`")
		}
		return auditRecords{localstore.Chains{Dir: at}.Each, nil, none}, nil
	case o.bucket != "":
		c, err := config.LoadDefaultConfig(a.Ctx)
		if err != nil {
			return auditRecords{}, cli.Hinted(fmt.Errorf("-bucket: %w", err), "set AWS_PROFILE or other credentials that may read the bucket")
		}
		out := auditRecords{each: awsstore.Chains{Client: s3.NewFromConfig(c), Bucket: o.bucket}.Each, close: none}
		if o.table != "" {
			out.records = awsstore.Records{Client: dynamodb.NewFromConfig(c), Table: o.table}
		}
		return out, nil
	}
	at := a.Path(o.data)
	if _, err := os.Stat(filepath.Join(at, "audit")); err != nil {
		return auditRecords{}, cli.Hinted(fmt.Errorf("the data directory %s has no audit records", o.data), "add -data=DIR with the data directory of `lockstep serve`, -bucket=NAME with the audit bucket of a deployment, or a directory with a copy of it. Lockstep writes the first record when it applies something")
	}
	data, err := localstore.Open(at)
	if err != nil {
		return auditRecords{}, err
	}
	return auditRecords{data.Chains.Each, data.Records, func() { data.Close() }}, nil
}

// noted returns the place in a chain that the last apply has noted in the records of the pipeline. It returns none if
// the records are not known.
func (r auditRecords) noted(ctx context.Context, chain string) ([]runs.Audited, error) {
	if r.records == nil {
		return nil, nil
	}
	rec, err := r.records.Get(ctx, "state/"+chain)
	if err != nil || rec.Version == "" {
		return nil, err
	}
	var last runs.LastApply
	if err := json.Unmarshal(rec.Value, &last); err != nil {
		return nil, fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
	}
	if last.Audited.Chain != chain {
		return nil, nil
	}
	return []runs.Audited{last.Audited}, nil
}

// unseen returns, for each chain that an apply has noted but that is not in seen, the last place that was noted. It looks
// only at repositories that have another chain in seen.
func (r auditRecords) unseen(ctx context.Context, seen map[string]bool) (out []runs.Audited, err error) {
	dirs := map[string]bool{}
	for chain := range seen {
		dirs[path.Dir(chain)] = r.records != nil
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		if !dirs[dir] {
			continue
		}
		list, err := r.records.List(ctx, "state/"+dir)
		if err != nil {
			return nil, err
		}
		for _, rec := range list {
			var last runs.LastApply
			if err := json.Unmarshal(rec.Value, &last); err != nil {
				return nil, fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
			}
			if at := last.Audited; at.N > 0 && !seen[at.Chain] && "state/"+at.Chain == rec.Key {
				out = append(out, at)
			}
		}
	}
	return out, nil
}

// errNoRecords reports that there are no records at all. To say that they are in order would be misleading.
var errNoRecords = cli.Hinted(errors.New("there are no audit records"), "name the directory or the bucket that has them. A copy is made with `aws s3 sync s3://BUCKET DIR`. If Lockstep has applied something, somebody has removed the records")

// errEnough ends a visit early.
var errEnough = errors.New("enough")
