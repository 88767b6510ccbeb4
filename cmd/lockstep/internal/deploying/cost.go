package deploying

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/functions/pricing"
)

const costUsage = `cost [OPTIONS]

  Estimates the monthly price of a deployment on AWS: an idle month, plans, applies, and
  for comparison an always-on server. Lockstep's tests have recorded the requests, durations
  and bytes.

  The prices are of one region and one date, before tax and without free tiers. With -json,
  the command prints each quantity with its price and source.

  For other prices write a file for -prices: a line "region NAME", a line "date DATE", and a
  line "KIND DOLLARS per NUMBER SOURCE" for each kind that -json names.`

// Cost is the command cost.
var Cost = cli.Command{Name: "cost", Synopsis: "Estimate the monthly price of a deployment on AWS", Run: func(a *cli.App, args []string) int {
	var o pricing.Options
	f := a.NewFlags("cost", costUsage)
	f.IntVar(&o.Plans, "plans", 1000, "number of plans a month")
	f.IntVar(&o.Applies, "applies", 1000, "number of applies a month")
	f.DurationVar(&o.PlanWait, "plan-wait", 30*time.Second, "time that a plan waits for the API of its provider, such as 30s")
	f.DurationVar(&o.ApplyWait, "apply-wait", time.Minute, "time that an apply waits for the API of its provider, such as 1m")
	file := f.String("prices", "", "file with prices")
	asJSON := f.Bool("json", false, "print the estimate as JSON")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	if o.Plans < 0 || o.Applies < 0 || o.PlanWait < 0 || o.ApplyWait < 0 {
		return f.Refuse("Negative number", "Give -plans, -applies, -plan-wait and -apply-wait values of 0 or more.")
	}
	prices, err := pricesOf(a, *file)
	if err != nil {
		return a.Failed(err)
	}
	recording, err := pricing.Recorded()
	if err != nil {
		return a.Failed(err)
	}
	offers, err := pricing.Estimate(recording, prices, o)
	if err != nil {
		return a.Failed(err)
	}
	if *asJSON {
		data, err := json.MarshalIndent(map[string]any{"region": prices.Region, "date": prices.Date, "offers": offers}, "", "  ")
		return a.WriteJSON(data, err)
	}
	fmt.Fprint(a.Out, pricing.Text(offers, prices, o))
	return 0
}}

// pricesOf reads a file with prices; "" means Lockstep's own table.
func pricesOf(a *cli.App, file string) (pricing.Prices, error) {
	if file == "" {
		return pricing.Own()
	}
	data, err := os.ReadFile(a.Path(file))
	if err != nil {
		return pricing.Prices{}, fmt.Errorf("the prices cannot be read: %w", err)
	}
	p, err := pricing.ParsePrices(string(data))
	if err != nil {
		return p, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}
