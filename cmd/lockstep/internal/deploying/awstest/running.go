package awstest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

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

// functions is Lambda, with the queues that it reads.
type functions struct{ *Account }

func (a functions) getQueueAttributes(in *sqs.GetQueueAttributesInput) (*sqs.GetQueueAttributesOutput, error) {
	out := map[string]string{"ApproximateNumberOfMessages": "0", "SqsManagedSseEnabled": "true", "RedrivePolicy": "{}", "Policy": `{"Statement":[{"Sid":"TlsOnly","Effect":"Deny"}]}`}
	for name, attributes := range a.queues {
		if strings.HasSuffix(*in.QueueUrl, name) {
			for k, v := range attributes {
				out[k] = v
			}
		}
	}
	return &sqs.GetQueueAttributesOutput{Attributes: out}, nil
}

// serve answers GetFunctionConfiguration, which is REST.
func (a functions) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/2015-03-31/functions/"), "/configuration")
	p := a.may("lambda:GetFunctionConfiguration")
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

// Runs reports whether a function of the stack lockstep was deployed with a content.
func (a *Account) Runs(function, content string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := sha256.Sum256([]byte(content))
	return a.functions["lockstep-"+function] == base64.StdEncoding.EncodeToString(sum[:])
}
