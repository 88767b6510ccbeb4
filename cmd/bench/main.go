// Bench measures commands of lockstep on generated configurations, beside other tools:
//
//	go run ./cmd/bench [-runs 5] [-with terraform,tofu] [-lockstep FILE] [-huge] [WORKLOAD ...]
//
// It builds lockstep, unless -lockstep names a program. A row has the median CPU seconds and the largest memory
// of each tool, in MiB, and how many times less CPU lockstep takes. The commands of all tools take turns, so
// that a busy machine does not favour one of them. For a state, the row "jq" has the cost of reading and
// writing the same file with jq, if it is installed.
//
// The configurations have only resources of the type terraform_data, so no plugin is part of the figures.
// Start at run.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	b := bench{out: os.Stdout}
	with := flag.String("with", "", "other tools to measure, separated by commas: terraform, or a path")
	flag.IntVar(&b.runs, "runs", 5, "the number of runs, of which the median counts")
	flag.StringVar(&b.lockstep, "lockstep", "", "the program to measure; it is built if this is empty")
	huge := flag.Bool("huge", false, "also the workloads of 100,000 and more instances, which take minutes and gigabytes")
	flag.Parse()
	if *with != "" {
		b.others = strings.Split(*with, ",")
	}
	chosen, err := choose(flag.Args(), *huge)
	if err == nil {
		err = b.run(chosen)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// choose returns the workloads with these names; the usual ones without names.
func choose(names []string, huge bool) ([]workload, error) {
	var out []workload
	for _, w := range workloads {
		if slices.Contains(names, w.name) || len(names) == 0 && (huge || !w.huge) {
			out = append(out, w)
		}
	}
	if len(out) < len(names) {
		var all []string
		for _, w := range workloads {
			all = append(all, w.name)
		}
		return nil, fmt.Errorf("there is no such workload: choose from %q", all)
	}
	return out, nil
}

// A bench measures tools.
type bench struct {
	out      io.Writer
	runs     int
	lockstep string
	others   []string
}

// run prints the table of some workloads. Each tool has a directory of its own for each workload, which is
// removed afterwards.
func (b *bench) run(list []workload) error {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // nothing depends on it
	if b.lockstep == "" {
		b.lockstep = filepath.Join(dir, "lockstep")
		build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.lockstep, "./cmd/lockstep")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build lockstep: %w", err)
		}
	}
	tools := []tool{{"lockstep", b.lockstep}}
	for _, name := range b.others {
		path, err := exec.LookPath(name)
		if err != nil {
			return fmt.Errorf("find a tool of -with: %w", err)
		}
		tools = append(tools, tool{filepath.Base(name), path})
	}
	b.head(tools)
	for _, w := range list {
		if err := b.measure(filepath.Join(dir, "work"), w, tools); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

// A tool is a program with the command line of Terraform.
type tool struct{ name, path string }

func (b *bench) head(tools []tool) {
	fmt.Fprintf(b.out, "%-16s %-22s", "workload", "command")
	for i, t := range tools {
		fmt.Fprintf(b.out, " | %10.10s s    MiB", t.name)
		if i > 0 {
			fmt.Fprint(b.out, "  times")
		}
	}
	fmt.Fprintln(b.out)
}

// measure prints the rows of one workload.
func (b *bench) measure(dir string, w workload, tools []tool) error {
	costs := map[string][][]cost{} // by command, then by tool
	for range b.runs {
		for i, t := range tools {
			at := filepath.Join(dir, fmt.Sprint(i))
			if err := w.write(at); err != nil {
				return err
			}
			for _, c := range w.commands {
				if c.edit {
					if err := w.writeEdited(at); err != nil {
						return err
					}
				}
				x, err := once(at, t.path, c.args)
				if err != nil {
					return fmt.Errorf("%s %s: %w", t.name, c.name, err)
				}
				if costs[c.name] == nil {
					costs[c.name] = make([][]cost, len(tools))
				}
				costs[c.name][i] = append(costs[c.name][i], x)
			}
			if err := os.RemoveAll(at); err != nil {
				return err
			}
		}
	}
	for _, c := range w.commands {
		b.row(w.name, c.name, costs[c.name])
	}
	return nil
}

func (b *bench) row(workload, command string, of [][]cost) {
	fmt.Fprintf(b.out, "%-16s %-22s", workload, command)
	own := median(of[0])
	for i, list := range of {
		m := median(list)
		fmt.Fprintf(b.out, " | %10.2f %8.0f", m.cpu, m.memory)
		if i > 0 && own.cpu > 0 {
			fmt.Fprintf(b.out, " %6.1f", m.cpu/own.cpu)
		}
	}
	fmt.Fprintln(b.out)
}

// A cost is what a process took: CPU seconds, and the largest memory in MiB. The processes that it started count,
// too, but of the memory only the largest.
type cost struct{ cpu, memory float64 }

func median(list []cost) cost {
	of := func(value func(cost) float64) float64 {
		values := make([]float64, len(list))
		for i, x := range list {
			values[i] = value(x)
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	return cost{of(func(c cost) float64 { return c.cpu }), of(func(c cost) float64 { return c.memory })}
}

// once runs a command in a directory. An exit status other than 0 is an error, with the end of the output. A
// command "jq" is run without a tool, and costs nothing if jq is not installed.
func once(dir, path string, args []string) (cost, error) {
	if args[0] == "jq" {
		found, err := exec.LookPath("jq")
		if errors.Is(err, exec.ErrNotFound) {
			return cost{}, nil
		}
		path, args = found, args[1:]
	}
	c := exec.Command(path, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE=/dev/null", "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1")
	out, err := os.Create(filepath.Join(dir, "output.txt"))
	if err != nil {
		return cost{}, err
	}
	defer out.Close() //nolint:errcheck // it is read again by its name
	c.Stdout, c.Stderr = out, out
	if err := c.Run(); err != nil {
		text, _ := os.ReadFile(out.Name())
		return cost{}, fmt.Errorf("%w:\n%s", err, text[max(0, len(text)-2000):])
	}
	return cost{(c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), memory(c.ProcessState)}, nil
}
