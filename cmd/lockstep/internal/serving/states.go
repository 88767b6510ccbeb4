package serving

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/sessions"
	"github.com/lockstep-iac/lockstep/functions/places"
)

// states reads the options of states in S3: where they may be, and whose credentials reach them.
func (o *serveOptions) states(a *cli.App, s *serveSettings) (err error) {
	if s.ownStates, err = places.ParseOwn(o.own); err != nil {
		return cli.Hinted(fmt.Errorf("-states: %w", err), "such as -states 's3://BUCKET/{owner}/{name}/**'")
	}
	if o.stateRole == "" {
		return nil
	}
	cfg, err := config.LoadDefaultConfig(a.Ctx)
	if err == nil && cfg.Region == "" {
		err = errors.New("no region is set")
	}
	if err != nil {
		return cli.Hinted(fmt.Errorf("-state-role: %w", err), "AWS_REGION, and AWS_PROFILE or other credentials, say by whom the role is assumed")
	}
	if !strings.Contains(o.stateRole, ":role/") {
		return cli.Hinted(fmt.Errorf("-state-role is %q, which is not the ARN of a role", o.stateRole), "such as arn:aws:iam::111122223333:role/lockstep-states")
	}
	s.credentials = sessions.Role{ARN: o.stateRole, ExternalID: o.stateExternalID, STS: sts.NewFromConfig(cfg)}.For
	return nil
}

// ownCredentials is the note if no role limits the access of runs.
const ownCredentials = "states in S3 are reached with the credentials of serve itself, by every run alike; -state-role has each run reach its own state only"

// release frees the state of a repository for another one.
func release(a *cli.App, data, place string) error {
	d, err := localstore.Open(data)
	if err != nil {
		return cli.Hinted(err, "-data names the data directory of serve")
	}
	defer d.Close()
	c, err := dispatch.Release(a.Ctx, d.Records, place)
	if err != nil {
		return err
	}
	if c == nil {
		return cli.Hinted(fmt.Errorf("no repository owns the state %s", place), "write it as in comments: s3://BUCKET/KEY, with the workspace in the key")
	}
	fmt.Fprintf(a.Out, "The state %s was that of the project %s of %s. The next project that the base branch has there gets it.\n", place, c.Project, c.Repo)
	return nil
}
