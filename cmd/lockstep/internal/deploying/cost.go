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

  Prices a deployment on AWS from the requests, durations and bytes that Lockstep's
  end-to-end tests have recorded: a month in which nothing happens, plans and applies,
  and the always-on servers that they compare with.

  The prices are those of a table, of one region and one date, before tax and without
  free tiers. -json prints each quantity with its price and the page that it is from.
  -prices reads another table: lines KIND DOLLARS per NUMBER SOURCE with the kinds that
  -json names, and the lines "region NAME" and "date DATE".`

// Cost is the command.
var Cost = cli.Command{Name: "cost", Synopsis: "Price a deployment: an idle month, plans and applies", Run: func(a *cli.App, args []string) int {
	var o pricing.Options
	f := a.NewFlags("cost", costUsage)
	f.IntVar(&o.Plans, "plans", 1000, "the number of plans")
	f.IntVar(&o.Applies, "applies", 1000, "the number of applies")
	f.DurationVar(&o.PlanWait, "plan-wait", 30*time.Second, "the time that a plan waits for the target's API")
	f.DurationVar(&o.ApplyWait, "apply-wait", time.Minute, "the time that an apply waits for the target's API")
	file := f.String("prices", "", "a file with a table of prices")
	asJSON := f.Bool("json", false, "print the estimate as JSON")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if code, ok := f.NoArguments(); !ok {
		return code
	}
	if o.Plans < 0 || o.Applies < 0 || o.PlanWait < 0 || o.ApplyWait < 0 {
		return f.Refuse("A number is negative", "-plans, -applies, -plan-wait and -apply-wait are 0 or more.")
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

// pricesOf reads a file, "" for the table of Lockstep's own.
func pricesOf(a *cli.App, file string) (pricing.Prices, error) {
	if file == "" {
		return pricing.Own()
	}
	data, err := os.ReadFile(a.Path(file))
	if err != nil {
		return pricing.Prices{}, fmt.Errorf("read the prices: %w", err)
	}
	p, err := pricing.ParsePrices(string(data))
	if err != nil {
		return p, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}
