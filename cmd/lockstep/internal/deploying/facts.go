package deploying

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/lockstep-iac/lockstep/functions/page/signin"
	"github.com/lockstep-iac/lockstep/github"
)

// facts finds all facts about the deployment. After a fact that it cannot find, it continues with the others.
func (d examination) facts(ctx context.Context) deploymentFacts {
	f := deploymentFacts{Stack: d.options.stack, Region: d.region, Skew: map[string]time.Duration{}}
	try := func(fact string, find func() error) {
		if err := find(); err != nil {
			f.Unknown = append(f.Unknown, unknownFact{Fact: fact, Reason: err.Error()})
		}
	}
	try("the clock of AWS", func() error { return d.awsClock(ctx, &f) })
	try("the stack", func() (err error) { d.present, err = d.stack.Look(ctx); return err })
	f.Status = d.present.Status
	if d.present.fresh() {
		f.Status = ""
		return f
	}
	d.aboutApps(ctx, &f, try)
	if arn := d.present.Parameters["PageSecretArn"]; arn != "" {
		try("the page", func() error {
			secret, err := d.vault.Read(ctx, arn)
			if err != nil {
				return err
			}
			_, err = signin.ReadSecret(secret)
			f.PageSecret = &examinedSecret{ARN: arn, Problem: err}
			return nil
		})
	}
	try("the stack's resources", func() error {
		resources, err := d.stack.Resources(ctx)
		for _, r := range resources {
			try(aws.ToString(r.LogicalResourceId), func() error { return d.resource(ctx, r, &f) })
		}
		return err
	})
	for name, use := range map[string]string{"PlanTargetRoleArn": "plans", "ApplyTargetRoleArn": "applies"} {
		if arn := d.present.Parameters[name]; arn != "" {
			try("the role of "+use, func() error { return d.role(ctx, arn, use, &f) })
		}
	}
	return f
}

func (d examination) awsClock(ctx context.Context, f *deploymentFacts) error {
	got, err := sts.NewFromConfig(d.config).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return err
	}
	// The clock difference is a fact of its own, because the AWS SDK corrects only its own signatures by it.
	// Other programs on this machine, such as requests to GitHub, are not corrected.
	if at, ok := middleware.GetServerTime(got.ResultMetadata); ok {
		f.Skew["AWS"] = time.Until(at)
	}
	return nil
}

// deliveries counts the webhooks of the last days, each by the result of GitHub's latest attempt to deliver it.
// A webhook that a later attempt delivered is no failure. A ping from the time before the stack had an address
// is no failure, either.
func (d examination) deliveries(ctx context.Context, app *github.App, out *examinedApp) error {
	list, err := app.Deliveries(ctx, time.Now().Add(-kept))
	seen := map[string]bool{}
	for _, x := range list {
		if seen[x.GUID] || x.Event == "ping" && !x.OK {
			continue
		}
		seen[x.GUID] = true
		if x.OK {
			out.Delivered++
			continue
		}
		if out.Failed == 0 {
			out.LastFailure = x.Status
		}
		out.Failed++
	}
	return err
}

// resource finds the facts about one resource of the stack.
func (d examination) resource(ctx context.Context, r types.StackResource, f *deploymentFacts) error {
	name, id := aws.ToString(r.LogicalResourceId), aws.ToString(r.PhysicalResourceId)
	switch kind := aws.ToString(r.ResourceType); {
	case kind == "AWS::SQS::Queue":
		return d.queue(ctx, name, id, f)
	case strings.HasPrefix(kind, "AWS::Lambda::Function") || kind == "AWS::Serverless::Function":
		got, err := lambda.NewFromConfig(d.config).GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: &id})
		if err != nil {
			return err
		}
		x := examinedFunction{Name: id, Digest: aws.ToString(got.CodeSha256)}
		if own, ok := d.files[strings.ToLower(strings.TrimSuffix(name, "Function"))+".zip"]; ok {
			sum := sha256.Sum256(own)
			x.Own = base64.StdEncoding.EncodeToString(sum[:])
		}
		f.Functions = append(f.Functions, x)
	case name == "Artifacts":
		in := artifactBucket{Client: d.depot.Client, Bucket: id, Account: d.account, Region: d.region}
		b, err := in.Look(ctx)
		if err != nil {
			return err
		}
		if !b.There || b.Foreign {
			return fmt.Errorf("the bucket %s does not exist, or you have no access to it", id)
		}
		kms, err := in.underKMS(ctx)
		f.Bucket = &examinedBucket{Name: id, Versioned: b.Versioned, Closed: b.Closed, KMS: kms}
		return err
	}
	return nil
}

func (d examination) queue(ctx context.Context, name, address string, f *deploymentFacts) error {
	got, err := sqs.NewFromConfig(d.config).GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &address, AttributeNames: []sqstypes.QueueAttributeName{
		sqstypes.QueueAttributeNameApproximateNumberOfMessages, sqstypes.QueueAttributeNameRedrivePolicy, sqstypes.QueueAttributeNamePolicy,
	}})
	if err != nil {
		return err
	}
	f.Queues = append(f.Queues, examinedQueue{
		Name: name, Dead: strings.HasSuffix(name, "Dead"), Messages: got.Attributes["ApproximateNumberOfMessages"],
		Redrives: got.Attributes["RedrivePolicy"] != "", TLSOnly: strings.Contains(got.Attributes["Policy"], "aws:SecureTransport"),
	})
	return nil
}

// role finds facts about an IAM role of this account. Roles of other accounts are left out, because only their
// owners can read them.
func (d examination) role(ctx context.Context, arn, use string, f *deploymentFacts) error {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 || parts[4] != d.account {
		return nil
	}
	r := examinedRole{ARN: arn, Use: use}
	name := arn[strings.LastIndex(arn, "/")+1:]
	got, err := iam.NewFromConfig(d.config).GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
	var none *iamtypes.NoSuchEntityException
	caller := d.present.Outputs[map[string]string{"plans": "PlanRoleArn", "applies": "ApplyRoleArn"}[use]]
	switch {
	case errors.As(err, &none):
		r.Problem = "the role does not exist"
	case err != nil:
		return err
	case !strings.Contains(trust(got.Role), caller[strings.LastIndex(caller, "/")+1:]):
		r.Problem = "its trust policy does not name " + caller
	}
	f.Roles = append(f.Roles, r)
	return nil
}

// trust returns a role's trust policy, which IAM returns in URL encoding.
func trust(r *iamtypes.Role) string {
	text, err := url.QueryUnescape(aws.ToString(r.AssumeRolePolicyDocument))
	if err != nil {
		return ""
	}
	return text
}
