// Package deploying has the commands about a deployment in an AWS account: deploy creates and updates one,
// deploy doctor checks one, cost estimates its price.
//
// The command deploy first finds facts about the deployment. [listSteps] decides which steps are left. Then it
// does one step after another, and asks the user before it changes anything. Each step finds its own state at
// AWS or at GitHub. So a run continues where another one has ended, and nothing is stored on this machine.
//
// The package does not know what the functions do. Start at [Deploy].
package deploying

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/github"
)

// Deploy is the command deploy.
var Deploy = cli.Command{Name: "deploy", Synopsis: "Set up Lockstep in an AWS account, or update it", Run: func(a *cli.App, args []string) int {
	return deploy(a, args, world(a))
}}

func deploy(a *cli.App, args []string, out surroundings) int {
	var o options
	f := a.NewFlags("deploy", "deploy [OPTIONS]")
	o.flags(f)
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	if err := o.check(f); err != nil {
		return a.Failed(err)
	}
	if o.manifest {
		fmt.Fprint(a.Out, o.request(nil).Page())
		return 0
	}
	o.input = a.MayAsk(o.input)
	d, err := open(a, o, out)
	if err == nil {
		err = d.run(a.Ctx)
	}
	if err != nil {
		return a.Failed(d.explained(err))
	}
	return 0
}

// A deployment is one run of deploy.
type deployment struct {
	cli     *cli.App
	person  prompter
	options options
	out     surroundings

	account, caller, region string
	vault                   secretStore
	depot                   artifactBucket
	stack                   namedStack
	config                  aws.Config

	template stackTemplate // as the build has it
	files    map[string][]byte

	// found are the results of the last survey.
	found     deploymentFound
	key, hook keptSecret
	present   stackDescription
	placed    map[string]depotPlace
	wish      stackWish
	app       *github.App // nil while we do not have its key

	hooked, deployed bool // by this run
	sent             bool
	delivered        hookDelivery
}

// templateFile is the name of the template among the uploaded files.
const templateFile = "template.yaml"

// open reads the template and the code, and connects to the AWS account.
func open(a *cli.App, o options, out surroundings) (*deployment, error) {
	d := &deployment{cli: a, person: prompter{a, o.input, o.approve, out.browse}, options: o, out: out, files: map[string][]byte{}}
	files, err := findEmbedded(o.artifacts)
	if errors.Is(err, errNothingEmbedded) {
		return nil, cli.Hinted(err, "install a release, which has the functions; or run `make build` in a checkout, then `lockstep deploy -artifacts dist`")
	}
	if err != nil {
		return nil, cli.Hinted(err, "give -artifacts the directory that `make build` fills: -artifacts dist")
	}
	if d.template, err = readTemplate(files.Template); err != nil {
		return nil, err
	}
	for _, name := range d.template.Code() {
		if d.files[name], err = files.Read(name); err != nil {
			return nil, cli.Hinted(fmt.Errorf("the template needs %s, which cannot be read: %s", name, cli.Reason(err)), "run `make build`, then give its directory: -artifacts dist")
		}
	}
	if err := d.template.Check(o.parameters); err != nil {
		return nil, cli.Hinted(err, "run `lockstep docs reference/template` for all parameters")
	}
	return d, d.connect(a.Ctx)
}

// connect connects to AWS, and finds the account and the region.
func (d *deployment) connect(ctx context.Context) error {
	cfg, err := d.out.aws(ctx, d.options.region)
	if err != nil {
		return fmt.Errorf("the AWS configuration cannot be read: %w", err)
	}
	if cfg.Region == "" {
		if cfg.Region, err = d.person.ask("region", "Which AWS region? (option -region, or environment variable AWS_REGION)", ""); err != nil {
			return err
		}
	}
	got, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return cli.Hinted(fmt.Errorf("AWS does not accept the credentials: %w", err), "log in as for AWS' command line, for example with `aws sso login`, and set AWS_PROFILE. Check with `aws sts get-caller-identity`")
	}
	d.config, d.region, d.account, d.caller = cfg, cfg.Region, aws.ToString(got.Account), aws.ToString(got.Arn)
	d.vault = secretStore{Client: secretsmanager.NewFromConfig(cfg)}
	d.stack = namedStack{Client: cloudformation.NewFromConfig(cfg), Name: d.options.stack, Pause: d.out.pause}
	d.depot = artifactBucket{Client: s3.NewFromConfig(cfg), Bucket: d.options.bucket, Account: d.account, Region: d.region}
	return nil
}

// run performs all steps that are not done yet.
func (d *deployment) run(ctx context.Context) error {
	list, err := d.survey(ctx)
	if err == nil {
		err = d.questions(list)
	}
	if err == nil {
		err = d.surveyStack()
	}
	if err != nil {
		return err
	}
	list = d.list()
	fmt.Fprintf(d.cli.Out, "AWS account %s, region %s, as %s\n\n", d.account, d.region, d.caller)
	d.person.show(list)
	next, left := nextStep(list)
	if d.options.plan || !left {
		d.afterwards(list)
		return nil
	}
	if next.State != stepBlocked {
		if err := d.person.agree("Do you want to take these steps in this account?"); err != nil {
			return err
		}
	}
	for last := ""; left; next, left = nextStep(list) {
		if next.State == stepBlocked {
			return cli.Hinted(errors.New(next.Text), "%s", next.Remedy)
		}
		if next.Name == last {
			return fmt.Errorf("the step %q had no effect: %s", next.Name, next.Text)
		}
		last = next.Name
		fmt.Fprintf(d.cli.Out, "%s: %s\n", next.Name, next.Text)
		if err := d.do(ctx, next.Name); err != nil {
			return err
		}
		if list, err = d.survey(ctx); err != nil {
			return err
		}
	}
	d.afterwards(list)
	return nil
}

// do performs the step with the given name.
func (d *deployment) do(ctx context.Context, name string) error {
	return map[string]func(context.Context) error{
		secretsStep: d.makeSecrets, registerStep: d.register, keyStep: d.putKey, depotStep: d.makeDepot,
		uploadStep: d.upload, deployStep: d.change, hookStep: d.setHook, checkStep: d.check,
	}[name](ctx)
}

// afterwards prints, once all steps are done, what the user has to do next.
func (d *deployment) afterwards(list []step) {
	if _, left := nextStep(list); left {
		return
	}
	if d.options.app != "" {
		fmt.Fprintf(d.cli.Out, "Done: the stack %[2]s has the App %[1]s. Webhook: %[3]s\n", d.options.app, d.options.stack, d.found.Stack.HookURL)
	} else {
		fmt.Fprintf(d.cli.Out, "Lockstep is deployed. Stack: %s. Webhook: %s\n", d.options.stack, d.found.Stack.HookURL)
	}
	if page := d.found.App.Page; page != "" {
		fmt.Fprintf(d.cli.Out, "Next, install the App on your repositories: %s/installations/new\n", page)
	}
	fmt.Fprintln(d.cli.Out, "Then open a pull request. If Lockstep does not answer, run `lockstep deploy doctor`.")
	if d.options.appKey != "" {
		fmt.Fprintf(d.cli.Out, "The App's private key is now in Secrets Manager. Delete the file %s.\n", d.options.appKey)
	}
}

// explained adds a hint to any error: how the user can continue the deployment.
func (d *deployment) explained(err error) error {
	if err = (shortError{err}); errors.Is(err, context.Canceled) || d != nil && d.cli.Ctx.Err() != nil {
		return cli.Hinted(fmt.Errorf("%w", err), "run `lockstep deploy` again with the same options: it continues after the last finished step")
	}
	if d != nil && !cli.HasHint(err) {
		return cli.Hinted(err, "fix the problem, then run `lockstep deploy` again with the same options: it continues after the last finished step")
	}
	return err
}
