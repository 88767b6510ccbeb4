package pricing

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

// A Kind is a unit that AWS has a price for, such as a request or a GB-second.
type Kind string

// These are the kinds. In their names, Byte and Month mean storage.
const (
	LambdaRequest      Kind = "lambda-request"
	LambdaGBSecond     Kind = "lambda-gb-second"
	LambdaDiskGBSecond Kind = "lambda-disk-gb-second"
	S3Put              Kind = "s3-put" // PUT and LIST requests
	S3Get              Kind = "s3-get" // GET and HEAD requests
	S3ByteMonth        Kind = "s3-byte-month"
	DynamoDBWrite      Kind = "dynamodb-write" // units, of 1 KB
	DynamoDBRead       Kind = "dynamodb-read"  // units, of 4 KB
	DynamoDBByteMonth  Kind = "dynamodb-byte-month"
	DynamoDBBackup     Kind = "dynamodb-backup-byte-month"
	SQSRequest         Kind = "sqs-request" // of 64 KB, to a FIFO queue
	KMSRequest         Kind = "kms-request"
	KMSKeyMonth        Kind = "kms-key-month"
	SecretMonth        Kind = "secret-month"
	SecretRequest      Kind = "secret-request"
	LogByte            Kind = "log-byte"
	LogByteMonth       Kind = "log-byte-month"
	AlarmMonth         Kind = "alarm-month"
	Schedule           Kind = "schedule"

	ServerHour       Kind = "server-hour"
	DiskByteMonth    Kind = "disk-byte-month"
	AddressHour      Kind = "address-hour"
	ContainerCPUHour Kind = "container-cpu-hour"
	ContainerGBHour  Kind = "container-gb-hour"
	BalancerHour     Kind = "balancer-hour"
	hoursOfMonth          = 730
	providerZip           = 150e6 // size in bytes of the stored package of the recorded provider
)

// kinds are all kinds. A table must have a price for each kind.
var kinds = []Kind{
	LambdaRequest, LambdaGBSecond, LambdaDiskGBSecond, S3Put, S3Get, S3ByteMonth, DynamoDBWrite, DynamoDBRead, DynamoDBByteMonth,
	DynamoDBBackup, SQSRequest, KMSRequest, KMSKeyMonth, SecretMonth, SecretRequest, LogByte, LogByteMonth, AlarmMonth, Schedule,
	ServerHour, DiskByteMonth, AddressHour, ContainerCPUHour, ContainerGBHour, BalancerHour,
}

// Prices are a table of AWS' prices, in US dollars before tax.
type Prices struct {
	Region, Date string
	Of           map[Kind]Price
}

// A Price is the price of one unit, and the address of the AWS page that has the price.
type Price struct {
	Dollars float64 `json:"dollars"` // for one unit
	Source  string  `json:"source"`
}

// table is Lockstep's own table of prices, in the format of ParsePrices.
//
//go:embed prices.txt
var table string

// Own returns Lockstep's own table of prices.
func Own() (Prices, error) { return ParsePrices(table) }

// ParsePrices parses a table of prices. Lines that begin with # are comments:
//
//	region us-east-1
//	date 2025-06-01
//	sqs-request 0.50 per 1000000 https://aws.amazon.com/sqs/pricing/
//
// Each kind has one line.
func ParsePrices(text string) (Prices, error) {
	p := Prices{Of: map[Kind]Price{}}
	number := 0
	for line := range strings.Lines(text) {
		number++
		w := strings.Fields(line)
		switch {
		case len(w) == 0 || strings.HasPrefix(w[0], "#"):
		case w[0] == "region" && len(w) == 2:
			p.Region = w[1]
		case w[0] == "date" && len(w) == 2:
			p.Date = w[1]
		case len(w) == 5 && w[2] == "per":
			dollars, err := strconv.ParseFloat(w[1], 64)
			per, err2 := strconv.ParseFloat(w[3], 64)
			if err != nil || err2 != nil || !(dollars >= 0) || !(per >= 1) {
				return p, fmt.Errorf("line %d: the price is not as 0.50 per 1000000", number)
			}
			if _, twice := p.Of[Kind(w[0])]; twice {
				return p, fmt.Errorf("line %d: a second price of %s", number, w[0])
			}
			p.Of[Kind(w[0])] = Price{dollars / per, w[4]}
		default:
			return p, fmt.Errorf("line %d is not as KIND DOLLARS per NUMBER SOURCE", number)
		}
	}
	return p, p.check()
}

func (p Prices) check() error {
	if p.Region == "" || p.Date == "" {
		return fmt.Errorf("the table has no region or no date")
	}
	for _, k := range kinds {
		if _, ok := p.Of[k]; !ok {
			return fmt.Errorf("the table has no price of %s", k)
		}
	}
	if len(p.Of) > len(kinds) {
		for k := range p.Of {
			if !known(k) {
				return fmt.Errorf("there is no kind %s", k)
			}
		}
	}
	return nil
}

func known(k Kind) bool {
	for _, x := range kinds {
		if x == k {
			return true
		}
	}
	return false
}
