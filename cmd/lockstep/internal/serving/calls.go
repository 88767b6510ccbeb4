package serving

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/localpipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/callouts"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
)

// calls reads which functions, webhooks, topics and programs base branches may name.
func (o *serveOptions) calls(a *cli.App, s *serveSettings) error {
	functions, err := endpoints.ParsePatterns("lambda", o.functions)
	if err != nil {
		return cli.Hinted(fmt.Errorf("-functions: %w", err), "such as -functions 'arn:aws:lambda:*:111122223333:function:lockstep-call-*'")
	}
	keys, err := endpoints.ParsePatterns("secretsmanager", o.webhookKeys)
	if err != nil {
		return cli.Hinted(fmt.Errorf("-webhook-keys: %w", err), "such as -webhook-keys 'arn:aws:secretsmanager:*:111122223333:secret:lockstep-call/*'")
	}
	topics, err := endpoints.ParsePatterns("sns", o.topics)
	if err != nil {
		return cli.Hinted(fmt.Errorf("-topics: %w", err), "such as -topics 'arn:aws:sns:*:111122223333:lockstep-call-*'")
	}
	x := callouts.AWS{
		Functions: functions, Secrets: keys, Topics: topics,
		FunctionsSetting: "serve's option -functions", SecretsSetting: "serve's option -webhook-keys", TopicsSetting: "serve's option -topics",
	}
	if len(functions)+len(keys)+len(topics) > 0 {
		if x.Config, err = config.LoadDefaultConfig(a.Ctx); err != nil {
			return cli.Hinted(fmt.Errorf("-functions, -webhook-keys, -topics: %w", err), "AWS_PROFILE or other credentials say as whom serve invokes functions, reads keys and publishes")
		}
	}
	s.calls = x.Caller()
	if o.hookPrograms == "" {
		return nil
	}
	programs := localpipeline.Programs{Dir: a.Path(o.hookPrograms), Environ: a.Environ}
	if err := programs.Check(); err != nil {
		return cli.Hinted(fmt.Errorf("-hook-programs: %w", err), "name a directory of programs in which nobody else may write: chmod go-w %s", o.hookPrograms)
	}
	s.calls.Program = programs.Run
	return nil
}
