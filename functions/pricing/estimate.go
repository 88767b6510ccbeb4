package pricing

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Options are the numbers for an estimate.
type Options struct {
	Plans, Applies int
	// PlanWait and ApplyWait are how long a provider waits for its cloud in a plan and in an apply. They are
	// added to the recorded time, because the provider in the recording answers at once.
	PlanWait, ApplyWait time.Duration
}

// An Offer is something with a price, such as a plan or an idle month. It is a column of the table.
type Offer struct {
	Name string `json:"name"`
	// Items are the quantities of the offer, each with its price.
	Items []Item  `json:"items"`
	Total float64 `json:"total"`
}

// An Item is a quantity of one kind in an offer, with its price.
type Item struct {
	Service  string  `json:"service"`
	Kind     Kind    `json:"kind"`
	Quantity float64 `json:"quantity"`
	Dollars  float64 `json:"dollars"`
	Source   string  `json:"source"`
}

// services are the rows of the table, each with the kinds that belong to it.
var services = []struct {
	name  string
	kinds []Kind
}{
	{"Lambda", []Kind{LambdaRequest, LambdaGBSecond, LambdaDiskGBSecond, Schedule}},
	{"SQS", []Kind{SQSRequest}},
	{"DynamoDB", []Kind{DynamoDBWrite, DynamoDBRead, DynamoDBByteMonth, DynamoDBBackup}},
	{"S3", []Kind{S3Put, S3Get, S3ByteMonth}},
	{"KMS", []Kind{KMSKeyMonth, KMSRequest}},
	{"Secrets Manager", []Kind{SecretMonth, SecretRequest}},
	{"CloudWatch", []Kind{AlarmMonth, LogByte, LogByteMonth}},
	{"Server", []Kind{ServerHour, DiskByteMonth, AddressHour, ContainerCPUHour, ContainerGBHour, BalancerHour}},
}

// Lambda polls queues all the time: five pollers for each mapping, each of which waits up to 20 seconds. The
// other constants describe a server to compare with.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html,
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html
const (
	pollers       = 5
	pollsPerHour  = 3600 / 20
	volume        = 20e9 // bytes: a checkout and a provider of real size
	containerCPUs = 0.5
	containerGB   = 1
	addresses     = 3 // two of the balancer, in two zones, and one of the container
)

// Estimate returns the prices of an idle month, of plans and applies, and of servers for comparison.
func Estimate(r Recording, p Prices, o Options) ([]Offer, error) {
	idle := map[Kind]float64{
		KMSKeyMonth: float64(r.Deployment.Keys), SecretMonth: float64(r.Deployment.Secrets), AlarmMonth: float64(r.Deployment.Alarms),
		SQSRequest:  float64(r.Deployment.Mappings * pollers * pollsPerHour * hoursOfMonth),
		Schedule:    float64(r.Deployment.Rounds * hoursOfMonth),
		S3ByteMonth: providerZip,
	}
	add(idle, r.Events[Round], r.Deployment.Rounds*hoursOfMonth)
	offers := []Offer{p.offer("idle month", idle)}
	for _, x := range []struct {
		event, name, function string
		times                 int
		wait                  time.Duration
	}{
		{Plan10, "plans of 10", "plan", o.Plans, o.PlanWait}, {Plan100, "plans of 100", "plan", o.Plans, o.PlanWait},
		{Apply10, "applies of 10", "apply", o.Applies, o.ApplyWait}, {Apply100, "applies of 100", "apply", o.Applies, o.ApplyWait},
	} {
		u, ok := r.Events[x.event]
		if !ok {
			return nil, fmt.Errorf("the recording has no %s", x.event)
		}
		u.Functions = maps.Clone(u.Functions)
		f := u.Functions[x.function]
		f.Milliseconds += x.wait.Milliseconds()
		u.Functions[x.function] = f
		units := map[Kind]float64{}
		add(units, u, x.times)
		offers = append(offers, p.offer(fmt.Sprintf("%s %s", grouped(x.times), x.name), units))
	}
	return append(offers,
		p.offer("a t4g.small", map[Kind]float64{ServerHour: hoursOfMonth, DiskByteMonth: volume, AddressHour: hoursOfMonth}),
		p.offer("Fargate and a balancer", map[Kind]float64{
			ContainerCPUHour: containerCPUs * hoursOfMonth, ContainerGBHour: containerGB * hoursOfMonth,
			BalancerHour: hoursOfMonth, AddressHour: addresses * hoursOfMonth,
		}),
	), nil
}

// add adds the usage of an event that happens several times. times is that number. Logs and stored data count
// for a month.
func add(to map[Kind]float64, u Usage, times int) {
	for k, n := range u.quantities() {
		to[k] += n * float64(times)
		switch k {
		case LogByte:
			to[LogByteMonth] += n * float64(times)
		case DynamoDBByteMonth:
			to[DynamoDBBackup] += n * float64(times)
		}
	}
}

func (p Prices) offer(name string, units map[Kind]float64) Offer {
	out := Offer{Name: name}
	for _, s := range services {
		for _, k := range s.kinds {
			if n := units[k]; n != 0 {
				x := Item{s.name, k, n, n * p.Of[k].Dollars, p.Of[k].Source}
				out.Items = append(out.Items, x)
				out.Total += x.Dollars
			}
		}
	}
	return out
}

// sumFor returns the sum of an offer's items for a service. any is false if the offer has no such items.
func (o Offer) sumFor(service string) (sum float64, any bool) {
	mine := slices.DeleteFunc(slices.Clone(o.Items), func(x Item) bool { return x.Service != service })
	for _, x := range mine {
		sum += x.Dollars
	}
	return sum, len(mine) > 0
}
