package serving

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/functions/page/signin"
	"github.com/lockstep-iac/lockstep/github"
)

const pageLinkUsage = `page link [OPTIONS] OWNER/NAME[#N]

  Prints a link to the page of a deployment on AWS: to a repository, or to its pull
  request N. The link is valid for 15 minutes, for everybody who has it. The command
  needs the right to read the stack and the secret of its page.

  Links work only if the secret has no client_secret. With one, people sign in with GitHub.`

// PageLink is the command page link. It prints a signed link to the page of a deployment on AWS.
var PageLink = cli.Command{Name: "page link", Synopsis: "Print a link to the page of a deployment", Run: func(a *cli.App, args []string) int {
	var stack string
	f := a.NewFlags("page link", pageLinkUsage)
	f.StringVar(&stack, "stack", "lockstep", "name of the stack")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() != 1 {
		return f.WrongArguments("name a repository or a pull request: lockstep page link acme/infra#7", "page link takes one argument, and you gave %d", f.NArg())
	}
	s, err := scopeOf(f.Arg(0))
	if err != nil {
		return a.Failed(err)
	}
	c, err := config.LoadDefaultConfig(a.Ctx)
	if err != nil {
		return a.Failed(err)
	}
	link, err := pageLink(a.Ctx, c, stack, s)
	if err != nil {
		return a.Failed(err)
	}
	fmt.Fprintln(a.Out, link)
	return 0
}}

var scopePattern = regexp.MustCompile(`^([A-Za-z0-9_.-]+)/([A-Za-z0-9_.-]+)(?:#([1-9][0-9]{0,9}))?$`)

// scopeOf returns what a link is for, from OWNER/NAME or OWNER/NAME#N.
func scopeOf(text string) (s signin.Scope, err error) {
	m := scopePattern.FindStringSubmatch(text)
	if m == nil {
		return s, cli.Hinted(fmt.Errorf("%q names no repository and no pull request", text), "write OWNER/NAME, or OWNER/NAME#N for a pull request, such as acme/infra#7")
	}
	s = signin.Scope{Owner: m[1], Name: m[2]}
	if m[3] != "" {
		s.Pull, err = strconv.Atoi(m[3])
	}
	return s, err
}

// pageLink returns a link to the page of a stack.
func pageLink(ctx context.Context, c aws.Config, stack string, s signin.Scope) (string, error) {
	got, err := cloudformation.NewFromConfig(c).DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &stack})
	if err != nil {
		return "", cli.Hinted(fmt.Errorf("read the stack %s: %w", stack, err), "give the name of the stack with -stack, and set AWS_PROFILE and AWS_REGION")
	}
	address, arn := "", ""
	for _, x := range got.Stacks {
		for _, o := range x.Outputs {
			if aws.ToString(o.OutputKey) == "PageAddress" {
				address = strings.TrimSuffix(aws.ToString(o.OutputValue), "/")
			}
		}
		for _, p := range x.Parameters {
			if aws.ToString(p.ParameterKey) == "PageSecretArn" {
				arn = aws.ToString(p.ParameterValue)
			}
		}
	}
	if address == "" || arn == "" {
		return "", cli.Hinted(fmt.Errorf("the stack %s has no page", stack), "set its parameter PageSecretArn: see `lockstep docs operate/page`")
	}
	secret, err := secretsmanager.NewFromConfig(c).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &arn})
	if err != nil {
		return "", cli.Hinted(fmt.Errorf("read the secret of the page: %w", err), "use credentials with the right secretsmanager:GetSecretValue for it")
	}
	all, err := signin.ReadSecret(github.NewSecret(aws.ToString(secret.SecretString)))
	if err != nil {
		return "", fmt.Errorf("the secret of the page: %w", err)
	}
	if !all.ClientSecret.IsEmpty() {
		return "", cli.Hinted(errors.New("people sign in to this page, so it accepts no links"), "open %s and sign in with GitHub", address)
	}
	return signin.Link(all.Key, address, s)
}
