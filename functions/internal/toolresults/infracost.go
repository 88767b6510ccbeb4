package toolresults

import (
	"cmp"
	"slices"
)

// infracost reads the JSON of infracost breakdown and infracost diff.
func (r *reader) infracost() (*Cost, error) {
	if err := checkJSON(r.output); err != nil {
		return nil, err
	}
	out, listed := &Cost{}, false
	projects := largest[ProjectCost]{weight: func(p ProjectCost) Amount {
		if increase, known := p.Increase(); known {
			return increase.Abs()
		}
		return p.After.Abs()
	}}
	w := newWalker(r.output)
	w.object(func(key string) {
		switch key {
		case "currency":
			out.Currency = r.cut(w.text(), maxCurrency)
		case "projects":
			listed = true
			w.list(func(int) {
				p := r.project(w)
				out.After = out.After.Plus(p.After)
				if p.Before != nil {
					out.Before = sum(out.Before, *p.Before)
				}
				projects.add(p)
			})
		case "summary":
			w.object(func(key string) {
				if key == "totalUnsupportedResources" {
					out.Unsupported = max(w.natural(), 0)
				} else {
					w.skip()
				}
			})
		default:
			w.skip()
		}
	})
	w.end()
	if w.err == nil && !listed {
		return nil, errOther
	}
	out.Currency = cmp.Or(out.Currency, "USD")
	out.Projects, out.MoreProjects = projects.kept()
	return out, w.err
}

const maxCurrency = 10 // bytes

func sum(a *Amount, b Amount) *Amount {
	if a != nil {
		b = b.Plus(*a)
	}
	return &b
}

// project reads a project. If the key pastBreakdown is missing, infracost has not computed the costs before the
// change. The difference in its output then means nothing: it is 0, or the whole costs.
func (r *reader) project(w *walker) (p ProjectCost) {
	resources := largest[ResourceCost]{weight: func(c ResourceCost) Amount { return c.Increase.Abs() }}
	w.object(func(key string) {
		switch key {
		case "name":
			p.Name = r.cut(w.text(), maxName)
		case "pastBreakdown":
			p.Before = r.breakdown(w, nil)
		case "breakdown":
			if total := r.breakdown(w, nil); total != nil {
				p.After = *total
			}
		case "diff":
			r.breakdown(w, &resources)
		default:
			w.skip()
		}
	})
	if p.Before != nil {
		p.Resources, p.MoreResources = resources.kept()
	}
	return p
}

// breakdown reads the costs of a project. It returns their sum; nil if there is no breakdown. It adds the resources to
// the list, if there is a list.
func (r *reader) breakdown(w *walker, into *largest[ResourceCost]) (total *Amount) {
	is := w.object(func(key string) {
		switch {
		case key == "totalMonthlyCost":
			total = w.amount()
		case key == "resources" && into != nil:
			w.list(func(int) {
				var c ResourceCost
				w.object(func(key string) {
					switch key {
					case "name":
						c.Name = r.cut(w.text(), maxName)
					case "monthlyCost":
						if a := w.amount(); a != nil {
							c.Increase = *a
						}
					default:
						w.skip()
					}
				})
				if c.Increase.Sign() != 0 {
					into.add(c)
				}
			})
		default:
			w.skip()
		}
	})
	if is && total == nil { // nothing has a price
		total = &Amount{}
	}
	return total
}

// largest keeps the [MaxCosts] values with the largest weights.
type largest[T any] struct {
	weight func(T) Amount
	list   []T
	more   int     // values that were left out
	floor  *Amount // values up to this weight are left out
}

func (l *largest[T]) add(x T) {
	if l.floor != nil && l.weight(x).Cmp(*l.floor) <= 0 {
		l.more++
		return
	}
	if l.list = append(l.list, x); len(l.list) >= 10*MaxCosts {
		l.shrink()
	}
}

// shrink removes all values but the largest ones, and sorts these. Equal values keep their order.
func (l *largest[T]) shrink() {
	slices.SortStableFunc(l.list, func(a, b T) int { return l.weight(b).Cmp(l.weight(a)) })
	if more := len(l.list) - MaxCosts; more > 0 {
		l.list = l.list[:MaxCosts]
		l.more += more
		floor := l.weight(l.list[MaxCosts-1])
		l.floor = &floor
	}
}

func (l *largest[T]) kept() (list []T, more int) {
	l.shrink()
	return l.list, l.more
}
