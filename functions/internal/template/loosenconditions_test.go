package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// loosenConditions drops each condition of an allowing statement, and adds a value to each; for a
// denying statement it removes a value, or replaces it.
func (l *loosener) loosenConditions() {
	conditions, _ := l.statement["Condition"].(map[string]any)
	for _, operator := range slices.Sorted(maps.Keys(conditions)) {
		for _, key := range slices.Sorted(maps.Keys(conditions[operator].(map[string]any))) {
			l.loosenCondition(operator, key)
		}
	}
}

func (l *loosener) loosenCondition(operator, key string) {
	given := texts(l.statement["Condition"].(map[string]any)[operator].(map[string]any)[key])
	change := func(what string, v any) {
		s := clone(l.statement)
		all := s["Condition"].(map[string]any)
		of := all[operator].(map[string]any)
		if of[key] = v; v == nil {
			delete(of, key)
		}
		if len(of) == 0 {
			delete(all, operator)
		}
		if len(all) == 0 {
			delete(s, "Condition")
		}
		l.put(fmt.Sprintf("%s %s %s", operator, key, what), l.actions(), s)
	}
	if !l.denies() {
		change("dropped", nil)
	}
	for _, v := range others(operator, key) {
		if slices.Contains(given, v) {
			continue
		}
		// A denial with "is not" gets narrower by another value; with "is", by a different one.
		if l.denies() && !strings.Contains(operator, "Not") {
			change("is "+v, v)
		} else {
			change("may be "+v, append(slices.Clone(given), v))
		}
	}
}

// others returns values that a key might be allowed to have. An unknown key panics, since its
// condition would never be loosened.
func others(operator, key string) []string {
	switch {
	case operator == "Null" || operator == "Bool":
		return []string{"true", "false"}
	case key == "aws:PrincipalArn":
		return []string{"arn:aws:iam::111122223333:role/admin", "arn:aws:iam::111122223333:role/lockstep-webhookrole"}
	case key == "aws:SourceAccount":
		return []string{"999999999999"}
	case key == "aws:SourceArn":
		return []string{"arn:aws:codebuild:us-east-1:111122223333:project/other"}
	case key == "kms:ViaService":
		return []string{"ec2.us-east-1.amazonaws.com"}
	case key == "s3:x-amz-server-side-encryption":
		return []string{"AES256", "aws:kms:dsse"}
	case key == "s3:x-amz-server-side-encryption-aws-kms-key-id":
		return []string{"arn:aws:kms:us-east-1:111122223333:key/other"}
	case key == "dynamodb:LeadingKeys" && operator == "ForAllValues:StringLike":
		return []string{"run*", "*/~*"}
	case key == "dynamodb:LeadingKeys" && strings.HasSuffix(operator, "Like"):
		return []string{"nothing"}
	case key == "dynamodb:LeadingKeys":
		return []string{"run"}
	case key == "lambda:FunctionUrlAuthType":
		return []string{"AWS_IAM"}
	case key == "sts:ExternalId":
		return []string{"arn:aws:cloudformation:us-east-1:111122223333:stack/other/1"}
	case key == "aws:TagKeys":
		return []string{"role"}
	case strings.HasPrefix(key, "aws:RequestTag/") && strings.HasSuffix(operator, "Like"):
		return []string{"*", "?*"}
	}
	panic(fmt.Sprintf("template: no value to loosen %s of %s with: give others one", operator, key))
}
