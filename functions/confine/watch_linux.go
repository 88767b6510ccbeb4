package confine

import (
	"io/fs"
	"path/filepath"
	"syscall"
	"time"
)

// The intervals between measurements. Within one interval, a program could use all memory of a machine. The
// kernel's limits for single processes prevent that.
const (
	lookEvery = 20 * time.Millisecond
	diskEvery = 250 * time.Millisecond // longer if measuring takes long
)

// watch waits until the child ends. If a limit is exceeded, it kills the child and all its descendants.
func (p *Process) watch(s Spec) {
	waited := make(chan struct{})
	go func() {
		p.cmd.Wait() // ProcessState has the result
		close(waited)
	}()
	m := meter{s.Limits, time.Now()}
	full := watchDisk(s, waited)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-waited:
			p.finish()
			return
		case p.end.Reason = <-p.kill:
		case p.end.Used = <-full:
			p.end.Reason = Disk
		case <-tick.C:
			all := p.look(s.Limits.Processes)
			p.end.Reason, p.end.Used = m.over(all)
		}
		if p.end.Reason != "" {
			p.destroy()
			<-waited
			p.finish()
			return
		}
	}
}

// look returns the resources that the child and its descendants have used. max is as in [descendants].
func (p *Process) look(max int) []usage {
	pid := p.cmd.Process.Pid
	var all []usage
	u, ok := look(pid)
	if !ok || u.zombie {
		return nil // its orphans are those found last
	}
	all = append(append(all, u), descendants(pid, max)...)
	if max > 0 && len(all) > max {
		return all // over the limit of processes: no need to measure
	}
	clear(p.seen)
	for i := range all {
		if all[i].zombie {
			continue
		}
		all[i].memory = memoryOf(all[i].pid)
		if i > 0 {
			p.seen[all[i].task] = true
		}
	}
	return all
}

// destroy kills the child and its descendants. With a PID namespace, all of them die with the child. Without
// one, destroy first stops the child: as long as the stopped child exists, it adopts orphans, so that they are
// found.
// Source: pid_namespaces(7), "The namespace init process"
func (p *Process) destroy() {
	pid := p.cmd.Process.Pid
	if !p.namespaces {
		syscall.Kill(pid, syscall.SIGSTOP)
		killBelow(pid, killTime)
	}
	syscall.Kill(pid, syscall.SIGKILL)
}

// A meter adds up the resources that processes have used since the meter was created.
type meter struct {
	limits Limits
	begin  time.Time
}

// over returns the first limit that the processes exceed, and the value that is above it. It returns "" if
// there is none.
func (m meter) over(all []usage) (Reason, int64) {
	var memory, cpu int64
	for _, u := range all {
		memory += u.memory
		cpu += int64(u.cpu)
	}
	for _, x := range []struct {
		reason    Reason
		used, max int64
	}{
		{Memory, memory, m.limits.Memory}, {CPU, cpu, int64(m.limits.CPU)}, {Wall, int64(time.Since(m.begin)), int64(m.limits.Wall)},
		{Processes, int64(len(all)), int64(m.limits.Processes)},
	} {
		if x.max > 0 && x.used > x.max {
			return x.reason, x.used
		}
	}
	return "", 0
}

// watchDisk measures the directories of s until ended is closed. If their size exceeds the limit, it sends the
// size on the returned channel, once.
func watchDisk(s Spec, ended <-chan struct{}) <-chan int64 {
	full := make(chan int64, 1)
	if s.Limits.Disk <= 0 || len(s.Dirs) == 0 {
		return full
	}
	go func() {
		for wait := diskEvery; ; {
			select {
			case <-ended:
				return
			case <-time.After(wait):
			}
			begin := time.Now()
			if used := bytesIn(s.Dirs, s.Limits.Disk); used > s.Limits.Disk {
				full <- used
				return
			}
			wait = max(diskEvery, 20*time.Since(begin))
		}
	}()
	return full
}

// maxEntries is the maximum number of files whose sizes are added up. A directory with more files counts as
// above any limit.
const maxEntries = 1_000_000

// bytesIn returns the size of the directories on disk, in bytes. If it is more than max, the result may be any
// number above max.
func bytesIn(dirs []string, max int64) int64 {
	var sum int64
	entries := 0
	for _, dir := range dirs {
		filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // The file was removed, or this process may not read it.
			}
			if entries++; entries > maxEntries {
				sum = max + 1
			}
			if info, err := e.Info(); err == nil {
				if st, ok := info.Sys().(*syscall.Stat_t); ok {
					sum += st.Blocks * 512
				}
			}
			if sum > max {
				return filepath.SkipAll
			}
			return nil
		})
	}
	return sum
}
