package localpipeline

import (
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// pluginEnv returns the environment of a job's plugins. On one machine, plugins have the operator's
// credentials. So an environment block with roles is refused: with the operator's credentials, the plugins
// could access the wrong account.
func pluginEnv(own []string) func(context.Context, jobs.Job) ([]string, error) {
	return func(_ context.Context, j jobs.Job) ([]string, error) {
		if role, _ := j.Environment.Role(true); role != "" {
			return nil, fmt.Errorf("the environment %q (%s on the base branch) has roles, and \"lockstep serve\" does not assume roles: let a deployment on AWS serve its projects, or remove the roles, so that providers use the credentials of -plugin-env", j.Environment.Name(), j.Environment.At())
		}
		env := append([]string{}, own...)
		if region := j.Environment.Region(); region != "" {
			env = append(env, "AWS_REGION="+region, "AWS_DEFAULT_REGION="+region)
		}
		return append(env, j.Environment.Env()...), nil
	}
}

// vault returns an error if a job needs secrets from an AWS account, because reading them needs a role.
func vault(_ context.Context, j jobs.Job) (map[string]string, error) {
	if secrets := j.Environment.Secrets(); len(secrets) > 0 {
		return nil, fmt.Errorf("the secret %s (%s on the base branch) needs a role, and \"lockstep serve\" does not assume roles: let a deployment on AWS serve the project", secrets[0].Name, secrets[0].At)
	}
	return nil, nil
}
