package metering

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pricing"
)

// s3 counts a request for an object or a list. Deletions are free.
// Source: https://aws.amazon.com/s3/pricing/
func (m *Meter) s3(c Call) {
	switch c.Action {
	case "s3:GetObject":
		m.add(pricing.S3Get, 1)
	case "s3:ListBucket":
		m.add(pricing.S3Put, 1)
	case "s3:PutObject":
		m.add(pricing.S3Put, 1)
		if !c.Refused {
			m.keep(pricing.S3ByteMonth, &m.objects, c.Resource, float64(c.Size))
		}
	case "s3:DeleteObject":
		if !c.Refused {
			m.keep(pricing.S3ByteMonth, &m.objects, c.Resource, 0)
		}
	}
}

// keep records the size of a stored object in sizes, and counts the difference to the size before as the kind
// k. It returns the size before, or 0 for a new object. The caller has locked the mutex.
func (m *Meter) keep(k pricing.Kind, sizes *map[string]float64, name string, size float64) (before float64) {
	if *sizes == nil {
		*sizes = map[string]float64{}
	}
	before = (*sizes)[name]
	(*sizes)[name] = size
	m.add(k, size-before)
	return before
}

// An item is a DynamoDB item in its JSON form.
type item map[string]map[string]json.RawMessage

// dynamodb counts the units of a request:
//
//   - one for each KB that is written, even if a condition refuses the write
//   - one for each 4 KB that is read, or half of that if the read need not be consistent
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
func (m *Meter) dynamodb(c Call) {
	var in struct {
		TableName      string
		Item, Key      item
		ConsistentRead bool
	}
	var out struct {
		Item  item
		Items []item
	}
	// A body that is not JSON counts as empty. No server would accept it.
	_ = json.Unmarshal(c.Body, &in)
	_ = json.Unmarshal(c.Answer, &out)
	switch _, operation, _ := strings.Cut(c.Action, ":"); operation {
	case "PutItem":
		bytes := size(in.Item)
		before := m.items[name(in.TableName, in.Item)]
		if !c.Refused {
			m.keep(pricing.DynamoDBByteMonth, &m.items, name(in.TableName, in.Item), bytes)
		}
		m.add(pricing.DynamoDBWrite, units(max(bytes, before), 1<<10))
	case "DeleteItem":
		before := m.items[name(in.TableName, in.Key)]
		if !c.Refused {
			m.keep(pricing.DynamoDBByteMonth, &m.items, name(in.TableName, in.Key), 0)
		}
		m.add(pricing.DynamoDBWrite, units(before, 1<<10))
	case "GetItem", "Query":
		bytes := size(out.Item)
		for _, x := range out.Items {
			bytes += size(x)
		}
		n := units(bytes, 4<<10)
		if !in.ConsistentRead {
			n /= 2
		}
		m.add(pricing.DynamoDBRead, n)
	}
}

// name returns the name of an item: its table and its key attributes.
func name(table string, x item) string {
	out := table
	for _, key := range []string{"Dir", "Name", "LockID"} {
		out += "\x00" + string(x[key]["S"])
	}
	return out
}

// size returns the size of an item in bytes. The size consists of the names and the values of the item's
// attributes. Values are measured in JSON form, without quotation marks.
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
func size(x item) float64 {
	n := 0
	for attribute, value := range x {
		n += len(attribute)
		for kind, data := range value {
			n += len(strings.Trim(string(data), `"`))
			if kind == "B" {
				n -= len(data) / 4 // base64
			}
		}
	}
	return float64(n)
}

// units returns how many units are needed for the given bytes, at least 1. size is the size of a unit in bytes.
func units(bytes, size float64) float64 { return max(1, math.Ceil(bytes/size)) }
