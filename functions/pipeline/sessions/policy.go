package sessions

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/statebackend/s3"
)

// MaxPolicy is the maximum length of a session's policy, in characters. Source:
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
const MaxPolicy = 2048

// A statement is one statement of a policy.
type statement struct {
	Effect    string
	Action    []string
	Resource  []string
	Condition any `json:",omitempty"`
}

// policyOf returns a policy that limits a session to one state. It allows reading the state, its journal, and
// its lock with its lease. It allows deleting the lock, or writing all of these, only if access says so. For
// [jobs.Keys], it allows only the calls of AWS KMS. A session has the rights that both the role and the policy
// allow. The error is for people.
//
// S3 tells only a client that may list the bucket whether an object exists, and for such a request it ignores a
// condition on the prefix of the list. So the policy must allow listing the names of other states, but it
// allows nothing else of these states. Source:
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html#API_GetObject_RequestSyntax
func policyOf(p places.Place, partition string, access jobs.Access) (string, error) {
	if access == jobs.Keys {
		return document(keysOnly())
	}
	if p.Backend != "s3" {
		return "", errors.New("there is no session for a state that is not in S3")
	}
	bucket := "arn:" + partition + ":s3:::" + p.Bucket
	object := bucket + "/" + p.Key
	lock, journal := object+".tflock", bucket+"/"+s3.JournalOf(p.Key)+"*"
	keys := statement{Action: []string{"kms:Decrypt"}, Resource: []string{"*"}, Condition: when("StringLike", "kms:ViaService", "s3.*")}
	var allow []statement
	switch access {
	case jobs.Writes:
		allow = []statement{
			{Action: []string{"s3:GetObject", "s3:PutObject"}, Resource: []string{object}},
			{Action: []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject"}, Resource: []string{lock, journal}},
		}
		keys.Action = append(keys.Action, "kms:GenerateDataKey")
	case jobs.Unlocks:
		allow = []statement{
			{Action: []string{"s3:GetObject"}, Resource: []string{object, journal}},
			{Action: []string{"s3:GetObject", "s3:DeleteObject"}, Resource: []string{lock}},
		}
	default:
		allow = []statement{{Action: []string{"s3:GetObject"}, Resource: []string{object, journal, lock}}}
	}
	allow = append(allow,
		statement{Action: []string{"s3:ListBucket"}, Resource: []string{bucket}},
		keys) // of the role's own keys, and only through S3
	if table := p.Table(); table != "" {
		allow = append(allow, items(partition, table, p.Bucket+"/"+p.Key, access)...)
	}
	text, err := document(allow...)
	if err == nil && len(text) > MaxPolicy {
		err = fmt.Errorf("the key of the state %s is too long: the policy that lets a run reach this state and no other would have %d characters, and may have %d; choose a shorter key", p, len(text), MaxPolicy)
	}
	return text, err
}

// keysOnly allows the calls for the keys of encryption blocks, with those KMS keys that the role may use. The
// calls must have no encryption context. S3 sets an encryption context for its own objects, so these calls
// cannot decrypt such objects.
// Source: https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html
func keysOnly() statement {
	return statement{Action: []string{"kms:Decrypt", "kms:GenerateDataKey"}, Resource: []string{"*"}, Condition: when("Null", "kms:EncryptionContextKeys", "true")}
}

// document returns a policy that allows exactly what the statements name.
func document(allow ...statement) (string, error) {
	for i := range allow {
		allow[i].Effect = "Allow"
	}
	data, err := json.Marshal(struct {
		Version   string
		Statement []statement
	}{"2012-10-17", allow})
	return string(data), err
}

// items returns the statements for a state's items in the table of locks: the lock, the digest of the state,
// and Lockstep's own records.
func items(partition, table, path string, access jobs.Access) []statement {
	all := []string{"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:DeleteItem"}
	in := []string{fmt.Sprintf("arn:%s:dynamodb:*:*:table/%s", partition, table)}
	keys := func(keys ...string) any { return when("ForAllValues:StringEquals", "dynamodb:LeadingKeys", keys...) }
	switch access {
	case jobs.Writes:
		return []statement{{Action: all, Resource: in, Condition: keys(path, path+"-md5", path+"-lockstep")}}
	case jobs.Unlocks:
		return []statement{
			{Action: []string{all[0], all[2]}, Resource: in, Condition: keys(path)},
			{Action: all[:1], Resource: in, Condition: keys(path + "-md5")},
		}
	}
	return []statement{{Action: all[:1], Resource: in, Condition: keys(path, path+"-md5")}}
}

func when(operator, key string, values ...string) any {
	return map[string]map[string][]string{operator: {key: values}}
}
