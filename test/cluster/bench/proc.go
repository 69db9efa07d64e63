//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The processes of a run, by their names in reports.
const (
	procOurs       = "batchjob-controller"
	procManager    = "kube-controller-manager"
	procServer     = "kube-apiserver"
	procStore      = "etcd"
	procKwok       = "kwok-controller"
	procBench      = "bench"
	procFloor      = "bare client"
	ticksPerSecond = 100 // USER_HZ, which is 100 wherever Go runs Linux
)

// processes maps names to process ids. It is empty on systems without /proc.
type processes map[string]int

// usage is the cumulative usage of processes: CPU seconds, and the peak resident memory in bytes since resetPeaks. busy
// is the CPU seconds of the whole machine.
type usage struct {
	cpu  map[string]float64
	peak map[string]int64
	busy float64
}

// findProcesses returns the components whose command line names a path below dir.
func findProcesses(dir string) processes {
	found := processes{}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		args := commandLine(file)
		if len(args) == 0 || !strings.Contains(strings.Join(args[1:], "\n"), "="+dir+"/") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		switch name := filepath.Base(args[0]); name {
		case procManager, procServer, procStore, procKwok:
			if err == nil {
				found[name] = pid
			}
		}
	}
	return found
}

// commandLine returns nil for a process that has ended or has no command line.
func commandLine(file string) []string {
	data, err := os.ReadFile(file)
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(data), "\x00"), "\x00")
}

// resetPeaks resets the memory peaks, if the kernel allows it.
func (p processes) resetPeaks() {
	for _, pid := range p {
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
	}
}

func (p processes) usage() (usage, error) {
	u := usage{cpu: map[string]float64{}, peak: map[string]int64{}}
	if len(p) == 0 {
		return u, nil
	}
	for name, pid := range p {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return u, err
		}
		if u.cpu[name], err = parseStat(string(stat)); err != nil {
			return u, fmt.Errorf("%s: %w", name, err)
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return u, err
		}
		if u.peak[name], err = parsePeak(string(status)); err != nil {
			return u, fmt.Errorf("%s: %w", name, err)
		}
	}
	machine, err := os.ReadFile("/proc/stat")
	if err != nil {
		return u, err
	}
	u.busy, err = parseBusy(string(machine))
	return u, err
}

// during returns the usage of the processes while do runs.
func (p processes) during(do func() error) (usage, error) {
	p.resetPeaks()
	before, err := p.usage()
	if err != nil {
		return usage{}, err
	}
	if err := do(); err != nil {
		return usage{}, err
	}
	after, err := p.usage()
	if err != nil {
		return usage{}, err
	}
	return after.since(before), nil
}

// since returns the usage after before; peaks are kept as they are.
func (u usage) since(before usage) usage {
	d := usage{cpu: maps.Clone(u.cpu), peak: u.peak, busy: u.busy - before.busy}
	for name := range d.cpu {
		d.cpu[name] -= before.cpu[name]
	}
	return d
}

// others returns the CPU time of all other processes.
func (u usage) others() float64 {
	rest := u.busy
	for _, seconds := range u.cpu {
		rest -= seconds
	}
	return max(0, rest)
}

// parseStat returns the CPU seconds (utime and stime) in /proc/PID/stat. The process name in it may contain any
// character, but ends at the last parenthesis.
func parseStat(text string) (float64, error) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/PID/stat has %d fields after the name, not 13 or more", len(fields))
	}
	return sumTicks(fields[11:13])
}

// parseBusy returns the non-idle CPU seconds of all CPUs in /proc/stat.
func parseBusy(text string) (float64, error) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 8 || fields[0] != "cpu" {
		return 0, fmt.Errorf("/proc/stat begins with %q", line)
	}
	// user nice system (idle iowait) irq softirq; steal was used by other virtual machines.
	return sumTicks(append(fields[1:4:4], fields[6:8]...))
}

func sumTicks(fields []string) (float64, error) {
	var sum int64
	for _, field := range fields {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return float64(sum) / ticksPerSecond, nil
}

// parsePeak returns VmHWM of /proc/PID/status in bytes.
func parsePeak(text string) (int64, error) {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			return kib * 1024, err
		}
	}
	return 0, fmt.Errorf("/proc/PID/status has no VmHWM")
}
