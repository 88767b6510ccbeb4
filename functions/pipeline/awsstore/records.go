package awsstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// Records implements pipeline.Records with a DynamoDB table. Each record is an item:
//
//	Dir      S  the key up to its last slash; the partition key
//	Name     S  the rest of the key; the sort key
//	Value    B
//	Version  S  made by the writer, and never the same twice
//	Expires  N  Unix seconds after which DynamoDB deletes the item; absent: never
//
// A write has a condition on Version. The condition can also fail because an earlier attempt has succeeded and
// its answer was lost. Records recognizes that: the item then has the version that this write has made.
type Records struct {
	Client *dynamodb.Client
	Table  string
}

type item = map[string]types.AttributeValue

func itemKey(key string) item {
	dir, name := pipeline.SplitKey(key)
	return item{"Dir": &types.AttributeValueMemberS{Value: dir}, "Name": &types.AttributeValueMemberS{Value: name}}
}

// record converts an item to a record.
func record(key string, i item) (pipeline.Record, error) {
	rec := pipeline.Record{Key: key}
	if len(i) == 0 {
		return rec, nil
	}
	value, isValue := i["Value"].(*types.AttributeValueMemberB)
	version := versionOf(i)
	if !isValue || version == "" {
		return rec, errors.New("the item is none of ours: it lacks Value or Version")
	}
	rec.Value, rec.Version = value.Value, version
	return rec, nil
}

func versionOf(i item) pipeline.Version {
	if s, ok := i["Version"].(*types.AttributeValueMemberS); ok {
		return pipeline.Version(s.Value)
	}
	return ""
}

// Get implements pipeline.Records.
func (r Records) Get(ctx context.Context, key string) (pipeline.Record, error) {
	out, err := r.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &r.Table, Key: itemKey(key), ConsistentRead: aws.Bool(true)})
	var rec pipeline.Record
	if err == nil {
		rec, err = record(key, out.Item)
	}
	if err != nil {
		return pipeline.Record{Key: key}, fmt.Errorf("get record %s: %w", key, err)
	}
	return rec, nil
}

// Put implements pipeline.Records.
func (r Records) Put(ctx context.Context, key string, value []byte, prev pipeline.Version) (pipeline.Version, error) {
	i := itemKey(key)
	if len(value) > pipeline.MaxRecord {
		return "", fmt.Errorf("put record %s: %d bytes are more than %d", key, len(value), pipeline.MaxRecord)
	}
	version := pipeline.Version(rand.Text())
	i["Value"] = &types.AttributeValueMemberB{Value: append([]byte{}, value...)}
	i["Version"] = &types.AttributeValueMemberS{Value: string(version)}
	if d := pipeline.Retention(key); d > 0 {
		i["Expires"] = &types.AttributeValueMemberN{Value: strconv.FormatInt(time.Now().Add(d).Unix(), 10)}
	}
	c := still(prev)
	_, err := r.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &r.Table, Item: i, ConditionExpression: &c.expression,
		ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		if versionOf(failed.Item) == version {
			return version, nil
		}
		err = pipeline.ErrConflict
	}
	if err != nil {
		return "", fmt.Errorf("put record %s: %w", key, err)
	}
	return version, nil
}

// A condition is what must be true for an item so that DynamoDB accepts a write.
type condition struct {
	expression string
	names      map[string]string
	values     item
}

// still returns the condition that the item has not changed since it had the version prev. If prev is "", the
// condition is that the item does not exist.
func still(prev pipeline.Version) condition {
	if prev == "" {
		return condition{expression: "attribute_not_exists(#dir)", names: map[string]string{"#dir": "Dir"}}
	}
	return condition{
		expression: "#version = :prev", names: map[string]string{"#version": "Version"},
		values: item{":prev": &types.AttributeValueMemberS{Value: string(prev)}},
	}
}

// Delete implements pipeline.Records.
func (r Records) Delete(ctx context.Context, key string, prev pipeline.Version) error {
	c := still(prev)
	in := &dynamodb.DeleteItemInput{
		TableName: &r.Table, Key: itemKey(key), ConditionExpression: &c.expression,
		ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	// If the item is missing at the first attempt, that is a conflict. At a later attempt, an earlier one may
	// have deleted the item, and its answer was lost.
	attempts := 0
	_, err := r.Client.DeleteItem(ctx, in, func(o *dynamodb.Options) { o.Retryer = counted{o.Retryer, &attempts} })
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		if len(failed.Item) == 0 && attempts > 1 {
			return nil
		}
		err = pipeline.ErrConflict
	}
	if err != nil {
		return fmt.Errorf("delete record %s: %w", key, err)
	}
	return nil
}

// counted counts the attempts that the SDK makes at one request.
type counted struct {
	aws.Retryer
	attempts *int
}

// GetAttemptToken implements aws.RetryerV2. The SDK calls it at the beginning of each attempt, so it can count
// them.
func (c counted) GetAttemptToken(ctx context.Context) (func(error) error, error) {
	*c.attempts++
	if r, ok := c.Retryer.(aws.RetryerV2); ok {
		return r.GetAttemptToken(ctx)
	}
	return c.Retryer.GetInitialToken(), nil
}

// List implements pipeline.Records.
func (r Records) List(ctx context.Context, dir string) ([]pipeline.Record, error) {
	pipeline.CheckDir(dir)
	pages := dynamodb.NewQueryPaginator(r.Client, &dynamodb.QueryInput{
		TableName: &r.Table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression: aws.String("#dir = :dir"), ExpressionAttributeNames: map[string]string{"#dir": "Dir"},
		ExpressionAttributeValues: item{":dir": &types.AttributeValueMemberS{Value: dir}},
	})
	var out []pipeline.Record
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list records of %s: %w", dir, err)
		}
		for _, i := range page.Items {
			name, _ := i["Name"].(*types.AttributeValueMemberS)
			rec, err := record("", i)
			if err != nil || name == nil {
				return nil, fmt.Errorf("list records of %s: %w", dir, err)
			}
			rec.Key = dir + "/" + name.Value
			out = append(out, rec)
		}
	}
	return out, nil
}
