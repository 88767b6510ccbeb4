package awstest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	sm "github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// secrets is the fake Secrets Manager of an account, and its STS.
type secrets struct{ *Account }

func (a secrets) getCallerIdentity(*sts.GetCallerIdentityInput) (*sts.GetCallerIdentityOutput, error) {
	return &sts.GetCallerIdentityOutput{Account: aws.String(ID), Arn: aws.String("arn:aws:sts::" + ID + ":assumed-role/admin/alice"), UserId: aws.String("AROA:alice")}, nil
}

// A secret is a secret with all its values, oldest first. The last one is the current value.
type secret struct {
	name, arn string
	tags      []sm.Tag
	values    []string
	deleted   time.Time
}

// Secret returns the current value of a secret by name, "" if there is none.
func (a *Account) Secret(name string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.secrets[name]; s != nil && len(s.values) > 0 {
		return s.values[len(s.values)-1]
	}
	return ""
}

// SetSecret gives a secret a value, and returns its ARN. It creates the secret if there is none.
func (a *Account) SetSecret(name, value string) (arn string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.secrets[name]
	if s == nil {
		s = &secret{name: name, arn: "arn:aws:secretsmanager:" + Region + ":" + ID + ":secret:" + name + "-1a2b3c"}
		a.secrets[name] = s
	}
	s.values = append(s.values, value)
	return s.arn
}

// Values returns the number of values that a secret was given.
func (a *Account) Values(name string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.secrets[name].values)
}

// DeleteSecret schedules the deletion of a secret.
func (a *Account) DeleteSecret(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.secrets[name].deleted = time.Now()
}

// named finds a secret by name or ARN.
func (a secrets) named(id *string) (*secret, error) {
	for _, s := range a.secrets {
		if s.name == aws.ToString(id) || s.arn == aws.ToString(id) {
			return s, nil
		}
	}
	return nil, &problem{http.StatusBadRequest, "ResourceNotFoundException", "Secrets Manager can't find the specified secret."}
}

func (a secrets) describeSecret(in *secretsmanager.DescribeSecretInput) (*secretsmanager.DescribeSecretOutput, error) {
	s, err := a.named(in.SecretId)
	if err != nil {
		return nil, err
	}
	out := &secretsmanager.DescribeSecretOutput{ARN: &s.arn, Name: &s.name, Tags: s.tags}
	if !s.deleted.IsZero() {
		out.DeletedDate = &s.deleted
	}
	if n := len(s.values); n > 0 {
		out.VersionIdsToStages = map[string][]string{fmt.Sprint(n): {"AWSCURRENT"}}
	}
	return out, nil
}

func (a secrets) createSecret(in *secretsmanager.CreateSecretInput) (*secretsmanager.CreateSecretOutput, error) {
	if _, err := a.named(in.Name); err == nil {
		return nil, &problem{http.StatusBadRequest, "ResourceExistsException", "The operation failed because the secret " + *in.Name + " already exists."}
	}
	sum := sha256.Sum256([]byte(*in.Name))
	s := &secret{name: *in.Name, arn: "arn:aws:secretsmanager:" + Region + ":" + ID + ":secret:" + *in.Name + "-" + hex.EncodeToString(sum[:])[:6], tags: in.Tags}
	if in.SecretString != nil {
		s.values = []string{*in.SecretString}
	}
	a.secrets[s.name] = s
	return &secretsmanager.CreateSecretOutput{ARN: &s.arn, Name: &s.name}, nil
}

func (a secrets) putSecretValue(in *secretsmanager.PutSecretValueInput) (*secretsmanager.PutSecretValueOutput, error) {
	s, err := a.named(in.SecretId)
	if err != nil {
		return nil, err
	}
	s.values = append(s.values, aws.ToString(in.SecretString))
	return &secretsmanager.PutSecretValueOutput{ARN: &s.arn, Name: &s.name}, nil
}

func (a secrets) tagSecret(in *secretsmanager.TagResourceInput) (*secretsmanager.TagResourceOutput, error) {
	s, err := a.named(in.SecretId)
	if err != nil {
		return nil, err
	}
	for _, t := range in.Tags {
		kept := []sm.Tag{t}
		for _, old := range s.tags {
			if *old.Key != *t.Key {
				kept = append(kept, old)
			}
		}
		s.tags = kept
	}
	return &secretsmanager.TagResourceOutput{}, nil
}

func (a secrets) getSecretValue(in *secretsmanager.GetSecretValueInput) (*secretsmanager.GetSecretValueOutput, error) {
	s, err := a.named(in.SecretId)
	if err != nil {
		return nil, err
	}
	if len(s.values) == 0 {
		return nil, &problem{http.StatusBadRequest, "ResourceNotFoundException", "Secrets Manager can't find the specified secret value for staging label: AWSCURRENT"}
	}
	return &secretsmanager.GetSecretValueOutput{ARN: &s.arn, Name: &s.name, SecretString: &s.values[len(s.values)-1]}, nil
}

// ARN returns the ARN of a secret by name.
func (a *Account) ARN(name string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.secrets[name].arn
}
