package awstest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lt "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// Queue sets attributes of each queue whose address ends in a name.
func (a *Account) Queue(name string, attributes map[string]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queues[name] = attributes
}

// SetClock puts the account's clock ahead of this machine's.
func (a *Account) SetClock(ahead time.Duration) {
	a.mu.Lock()
	a.clock = ahead
	a.mu.Unlock()
}

// SwapFunction replaces the code of a function by other code, as somebody who may update it can.
func (a *Account) SwapFunction(name string) {
	a.mu.Lock()
	a.functions[name] = "swapped"
	a.mu.Unlock()
}

// AddRole puts a role with a trust policy into the account, and returns its ARN.
func (a *Account) AddRole(name, trust string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.roles[name] = trust
	return "arn:aws:iam::" + ID + ":role/" + name
}

// functions is the fake Lambda of an account, with the queues that functions read and the roles that they
// assume.
type functions struct{ *Account }

func (a functions) getQueueAttributes(in *sqs.GetQueueAttributesInput) (*sqs.GetQueueAttributesOutput, error) {
	out := map[string]string{"ApproximateNumberOfMessages": "0", "SqsManagedSseEnabled": "true", "RedrivePolicy": "{}", "Policy": `{"Statement":[{"Effect":"Deny","Condition":{"Bool":{"aws:SecureTransport":"false"}}}]}`}
	for name, attributes := range a.queues {
		if strings.HasSuffix(*in.QueueUrl, name) {
			for k, v := range attributes {
				out[k] = v
			}
		}
	}
	return &sqs.GetQueueAttributesOutput{Attributes: out}, nil
}

func (a functions) getRole(in *iam.GetRoleInput) (*iam.GetRoleOutput, error) {
	trust, ok := a.roles[*in.RoleName]
	if !ok {
		return nil, &problem{http.StatusNotFound, "NoSuchEntity", "The role with name " + *in.RoleName + " cannot be found."}
	}
	return &iam.GetRoleOutput{Role: &iamtypes.Role{
		RoleName: in.RoleName, Arn: aws.String("arn:aws:iam::" + ID + ":role/" + *in.RoleName), Path: aws.String("/"), RoleId: aws.String("AROA"),
		CreateDate: aws.Time(time.Now()), AssumeRolePolicyDocument: aws.String(url.QueryEscape(trust)),
	}}, nil
}

// serve answers GetFunctionConfiguration, which is REST.
func (a functions) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/2015-03-31/functions/"), "/configuration")
	p := a.may("lambda:GetFunctionConfiguration", "arn:aws:lambda:"+Region+":"+ID+":function:"+name)
	digest, ok := a.functions[name]
	if p == nil && !ok {
		p = &problem{http.StatusNotFound, "ResourceNotFoundException", fmt.Sprintf("Function not found: arn:aws:lambda:%s:%s:function:%s", Region, ID, name)}
	}
	if p != nil {
		w.Header().Set("X-Amzn-Errortype", p.code)
		refuseJSON(w, p)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(members(reflect.ValueOf(&lambda.GetFunctionConfigurationOutput{FunctionName: &name, CodeSha256: &digest, State: lt.StateActive})))
}

// Runs reports whether a function of the stack lockstep was deployed with the given content.
func (a *Account) Runs(function, content string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := sha256.Sum256([]byte(content))
	return a.functions["lockstep-"+function] == base64.StdEncoding.EncodeToString(sum[:])
}
