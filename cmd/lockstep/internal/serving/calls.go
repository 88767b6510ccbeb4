package serving

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/localpipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/callouts"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
)

// calls reads the options that list Lambda functions, webhooks, SNS topics and programs. Only these may be
// named in lockstep.hcl on base branches.
func (o *serveOptions) calls(a *cli.App, s *serveSettings) error {
	functions, err := endpoints.ParsePatterns("lambda", o.functions)
	if err != nil {
		return cli.Hinted(fmt.Errorf("-functions: %w", err), "write ARNs like -functions 'arn:aws:lambda:*:111122223333:function:lockstep-call-*'")
	}
	keys, err := endpoints.ParsePatterns("secretsmanager", o.webhookKeys)
	if err != nil {
		return cli.Hinted(fmt.Errorf("-webhook-keys: %w", err), "write ARNs like -webhook-keys 'arn:aws:secretsmanager:*:111122223333:secret:lockstep-call/*'")
	}
	topics, err := endpoints.ParsePatterns("sns", o.topics)
	if err != nil {
		return cli.Hinted(fmt.Errorf("-topics: %w", err), "write ARNs like -topics 'arn:aws:sns:*:111122223333:lockstep-call-*'")
	}
	x := callouts.AWS{
		Functions: functions, Secrets: keys, Topics: topics,
		FunctionsSetting: "the option -functions of lockstep serve", SecretsSetting: "the option -webhook-keys of lockstep serve", TopicsSetting: "the option -topics of lockstep serve",
	}
	if len(functions)+len(keys)+len(topics) > 0 {
		if x.Config, err = config.LoadDefaultConfig(a.Ctx); err != nil {
			return cli.Hinted(fmt.Errorf("-functions, -webhook-keys, -topics: %w", err), "set AWS_PROFILE or other credentials with which Lockstep may call functions, read secrets and publish to topics")
		}
	}
	s.calls = x.Caller()
	if o.hookPrograms == "" {
		return nil
	}
	programs := localpipeline.Programs{Dir: a.Path(o.hookPrograms), Environ: a.Environ}
	if err := programs.Check(); err != nil {
		return cli.Hinted(fmt.Errorf("-hook-programs: %w", err), "name an existing directory that only you can write to: chmod go-w %s", o.hookPrograms)
	}
	s.calls.Program = programs.Run
	return nil
}
