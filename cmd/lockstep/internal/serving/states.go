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

// states parses the options about states in S3: where they may be, and with which credentials they are
// accessed.
func (o *serveOptions) states(a *cli.App, s *serveSettings) (err error) {
	if s.ownStates, err = places.ParseOwn(o.own); err != nil {
		return cli.Hinted(fmt.Errorf("-states: %w", err), "write patterns like -states 's3://BUCKET/{owner}/{name}/**'")
	}
	if o.stateRole == "" {
		return nil
	}
	cfg, err := config.LoadDefaultConfig(a.Ctx)
	if err == nil && cfg.Region == "" {
		err = errors.New("no region is set")
	}
	if err != nil {
		return cli.Hinted(fmt.Errorf("-state-role: %w", err), "set AWS_REGION, and AWS_PROFILE or other credentials that may assume the role")
	}
	if !strings.Contains(o.stateRole, ":role/") {
		return cli.Hinted(fmt.Errorf("-state-role is %q, which is not the ARN of a role", o.stateRole), "write the whole ARN: -state-role arn:aws:iam::111122223333:role/lockstep-states")
	}
	s.credentials = sessions.Role{ARN: o.stateRole, ExternalID: o.stateExternalID, STS: sts.NewFromConfig(cfg)}.For
	return nil
}

// ownCredentials is a warning to the operator if no role limits the access of runs to states in S3.
const ownCredentials = "each run can reach all states in S3 that the credentials of lockstep serve can reach. To limit a run to its own state, set -state-role"

// release ends a repository's ownership of the state at the address place, so that another repository can own
// the state. data is the data directory.
func release(a *cli.App, data, place string) error {
	d, err := localstore.Open(data)
	if err != nil {
		return cli.Hinted(err, "name the data directory of `lockstep serve`: -data DIR")
	}
	defer d.Close()
	c, err := dispatch.Release(a.Ctx, d.Records, place)
	if err != nil {
		return err
	}
	if c == nil {
		return cli.Hinted(fmt.Errorf("no repository owns the state %s", place), "copy the address from a plan's comment: s3://BUCKET/KEY, with the workspace in the key")
	}
	fmt.Fprintf(a.Out, "Released the state %s, which belonged to the project %s of %s. The next project with this address on its base branch gets the state.\n", place, c.Project, c.Repo)
	return nil
}
