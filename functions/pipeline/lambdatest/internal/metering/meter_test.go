package metering_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/internal/metering"
	"github.com/lockstep-iac/lockstep/functions/pricing"
)

// long is a text of 5,000 bytes.
var long = strings.Repeat("x", 5000)

func put(name, value string) string {
	return `{"TableName":"t","Item":{"Dir":{"S":"d"},"Name":{"S":"` + name + `"},"V":{"S":"` + value + `"}}}`
}

// TestUnits holds the units that AWS counts a request as.
func TestUnits(t *testing.T) {
	type counts map[pricing.Kind]float64
	for name, c := range map[string]struct {
		calls []metering.Call
		want  counts
	}{
		"a small item":                           {[]metering.Call{{Service: "dynamodb", Action: "dynamodb:PutItem", Body: []byte(put("a", "1"))}}, counts{pricing.DynamoDBWrite: 1, pricing.DynamoDBByteMonth: 11}},
		"a large item, refused by its condition": {[]metering.Call{{Service: "dynamodb", Action: "dynamodb:PutItem", Body: []byte(put("a", long)), Refused: true}}, counts{pricing.DynamoDBWrite: 5}},
		"a large item that is deleted": {[]metering.Call{
			{Service: "dynamodb", Action: "dynamodb:PutItem", Body: []byte(put("a", long))},
			{Service: "dynamodb", Action: "dynamodb:DeleteItem", Body: []byte(`{"TableName":"t","Key":{"Dir":{"S":"d"},"Name":{"S":"a"}}}`)},
		}, counts{pricing.DynamoDBWrite: 10, pricing.DynamoDBByteMonth: 0}},
		"a small item in the place of a large one": {[]metering.Call{
			{Service: "dynamodb", Action: "dynamodb:PutItem", Body: []byte(put("a", long))},
			{Service: "dynamodb", Action: "dynamodb:PutItem", Body: []byte(put("a", "1"))},
		}, counts{pricing.DynamoDBWrite: 10, pricing.DynamoDBByteMonth: 11}},
		"a consistent read":        {[]metering.Call{{Service: "dynamodb", Action: "dynamodb:GetItem", Body: []byte(`{"ConsistentRead":true}`), Answer: []byte(put("a", long))}}, counts{pricing.DynamoDBRead: 2}},
		"another read, of nothing": {[]metering.Call{{Service: "dynamodb", Action: "dynamodb:GetItem", Body: []byte(`{}`), Answer: []byte(`{}`)}}, counts{pricing.DynamoDBRead: 0.5}},
		"a query":                  {[]metering.Call{{Service: "dynamodb", Action: "dynamodb:Query", Body: []byte(`{"ConsistentRead":true}`), Answer: []byte(`{"Items":[{"V":{"S":"` + long + `"}},{"V":{"S":"` + long + `"}}]}`)}}, counts{pricing.DynamoDBRead: 3}},
		"a large message":          {[]metering.Call{{Service: "sqs", Action: "sqs:SendMessage", Size: 65537}}, counts{pricing.SQSRequest: 2}},
		"a secret":                 {[]metering.Call{{Service: "account", Action: "secretsmanager:GetSecretValue"}}, counts{pricing.SecretRequest: 1, pricing.KMSRequest: 1}},
		"a role":                   {[]metering.Call{{Service: "account", Action: "sts:AssumeRole"}}, nil},
		"an object under a key":    {[]metering.Call{{Service: "s3", Action: "s3:PutObject", Resource: "o", Size: 7, Keys: 1}}, counts{pricing.S3Put: 1, pricing.S3ByteMonth: 7, pricing.KMSRequest: 1}},
		"an object, read and deleted": {[]metering.Call{
			{Service: "s3", Action: "s3:PutObject", Resource: "o", Size: 7}, {Service: "s3", Action: "s3:GetObject", Resource: "o"},
			{Service: "s3", Action: "s3:DeleteObject", Resource: "o"}, {Service: "s3", Action: "s3:ListBucket"},
		}, counts{pricing.S3Put: 2, pricing.S3Get: 1, pricing.S3ByteMonth: 0}},
	} {
		var m metering.Meter
		for _, x := range c.calls {
			m.Count(x)
		}
		if diff := cmp.Diff(c.want, counts(m.Take())); diff != "" {
			t.Errorf("%s:%s", name, diff)
		}
	}
}

// TestLog holds that the bytes of the log count, and get on.
func TestLog(t *testing.T) {
	var m metering.Meter
	var log strings.Builder
	if n, err := m.Log(&log).Write([]byte("seven..")); n != 7 || err != nil || log.String() != "seven.." {
		t.Errorf("%d, %v, %q", n, err, log.String())
	}
	m.Taken(10)
	if diff := cmp.Diff(map[pricing.Kind]float64{pricing.LogByte: 7, pricing.SQSRequest: 2}, m.Take()); diff != "" {
		t.Error(diff)
	}
	if got := m.Take(); len(got) != 0 {
		t.Errorf("counted twice: %v", got)
	}
}
