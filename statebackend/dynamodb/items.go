// Package dynamodb keeps the two items that Terraform and OpenTofu store in a DynamoDB table for each S3
// state: the lock, and the digest of the bytes last written. It knows the form of the items and the
// conditions of their writes. Package s3 knows where the state is, and when it may be written. Start with
// [Items].
//
// The table has the hash key LockID, a string, and for the state at "<path>" ("<bucket>/<key>"):
//
//	LockID = "<path>"      Info = <LockInfo as JSON>   LockstepDigest = <hex MD5>   LockstepLease = <Lease as JSON>
//	LockID = "<path>-md5"  Digest = <hex MD5>
//
// Stock tools do not know LockstepDigest and LockstepLease, and leave them alone; both disappear with the
// lock item. Stock tools replace the -md5 item as a whole.
//
// The package uses only GetItem, PutItem and DeleteItem: the policies in Terraform's documentation grant no
// more.
//
// Source: https://developer.hashicorp.com/terraform/language/backend/s3
package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// API lists the methods of the DynamoDB client that this package calls.
type API interface {
	GetItem(context.Context, *awsdynamodb.GetItemInput, ...func(*awsdynamodb.Options)) (*awsdynamodb.GetItemOutput, error)
	PutItem(context.Context, *awsdynamodb.PutItemInput, ...func(*awsdynamodb.Options)) (*awsdynamodb.PutItemOutput, error)
	DeleteItem(context.Context, *awsdynamodb.DeleteItemInput, ...func(*awsdynamodb.Options)) (*awsdynamodb.DeleteItemOutput, error)
}

// Items manages the two items of one state. Set the fields before the first use, and do not change them; then
// Items is safe for concurrent use.
type Items struct {
	Client API
	Table  string
	Path   string // "<bucket>/<key>"

	mu   sync.Mutex
	last item // the leased lock item as last written; nil: not known
}

// These are the names of attributes, and the suffix of the digest item's key.
const (
	keyAttribute       = "LockID"
	infoAttribute      = "Info"
	digestAttribute    = "Digest"
	announcedAttribute = "LockstepDigest"
	digestSuffix       = "-md5"
)

// item has the string attributes of an item, by name.
type item map[string]string

// get reads an item with a consistent read. It returns nil if there is no item.
func (i *Items) get(ctx context.Context, key string) (item, error) {
	out, err := i.Client.GetItem(ctx, &awsdynamodb.GetItemInput{
		TableName:      &i.Table,
		Key:            keyOf(key),
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, i.explain("read", key, err)
	}
	if len(out.Item) == 0 {
		return nil, nil
	}
	found := make(item, len(out.Item))
	for name, value := range out.Item {
		if s, ok := value.(*types.AttributeValueMemberS); ok {
			found[name] = s.Value
		}
	}
	return found, nil
}

// put replaces an item if the condition is true.
func (i *Items) put(ctx context.Context, attributes item, c condition) error {
	stored := make(map[string]types.AttributeValue, len(attributes))
	for name, value := range attributes {
		stored[name] = &types.AttributeValueMemberS{Value: value}
	}
	_, err := i.Client.PutItem(ctx, &awsdynamodb.PutItemInput{
		TableName:                 &i.Table,
		Item:                      stored,
		ConditionExpression:       c.expression,
		ExpressionAttributeValues: c.values,
	})
	return i.explain("write", attributes[keyAttribute], err)
}

// remove deletes an item if the condition is true.
func (i *Items) remove(ctx context.Context, key string, c condition) error {
	_, err := i.Client.DeleteItem(ctx, &awsdynamodb.DeleteItemInput{
		TableName:                 &i.Table,
		Key:                       keyOf(key),
		ConditionExpression:       c.expression,
		ExpressionAttributeValues: c.values,
	})
	return i.explain("delete", key, err)
}

// condition is a condition that a write puts on the existing item. The zero value is always true.
type condition struct {
	expression *string
	values     map[string]types.AttributeValue
}

// absent is the condition that there is no item.
var absent = condition{expression: aws.String("attribute_not_exists(" + keyAttribute + ")")}

// equals returns the condition that the attribute has this value. For the value "" it is the condition that the
// attribute is missing.
func equals(attribute, value string) condition {
	if value == "" {
		return condition{expression: aws.String("attribute_not_exists(" + attribute + ")")}
	}
	return condition{
		expression: aws.String(attribute + " = :was"),
		values:     map[string]types.AttributeValue{":was": &types.AttributeValueMemberS{Value: value}},
	}
}

func keyOf(key string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{keyAttribute: &types.AttributeValueMemberS{Value: key}}
}

// errCondition means that a condition was false, and nothing was written. The cause may be an earlier attempt
// of this process whose response was lost.
var errCondition = errors.New("the item is not as expected")

// explain adds the operation and the item to an error. It replaces SDK errors that callers test for with
// errCondition or statebackend.ErrDenied.
func (i *Items) explain(verb, key string, err error) error {
	if err == nil {
		return nil
	}
	var failed *types.ConditionalCheckFailedException
	var missing *types.ResourceNotFoundException
	var api smithy.APIError
	switch {
	case errors.As(err, &failed):
		err = errCondition
	case errors.As(err, &missing):
		err = fmt.Errorf("there is no such table: %w", err)
	case errors.As(err, &api) && api.ErrorCode() == "AccessDeniedException":
		err = fmt.Errorf("%w: %w", statebackend.ErrDenied, err)
	}
	return fmt.Errorf("%s item %s of DynamoDB table %s: %w", verb, key, i.Table, err)
}
