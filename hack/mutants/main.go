// Command mutants tests the tests: it plants one bug at a time, most of them bugs that the built-in controller really
// had, and requires that some test fails.
//
//	go run ./hack/mutants [-table FILE] [-only REGEXP] [-prove] [-results FILE]
//
// The bugs are in mutants.txt, or in another table, such as subtle.txt. The source tree does not change: the compiler
// gets the planted text as an overlay. Each bug takes about half a minute. With -prove, the model checker alone has to find
// each bug, in the small world that the table names.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

//go:embed mutants.txt
var text string

// timeout is the time limit of the tests of one package: a bug may never end.
const timeout = 3 * time.Minute

// packages are tested one after the other, the fast ones first, until a test fails.
var packages = []string{"./pkg/reconcile/...", "./pkg/observe", "./pkg/controller/...", "./pkg/sim", "./test/virtual/prove", "./test/virtual/storm"}

func main() {
	var o options
	flag.StringVar(&o.only, "only", "", "plant only bugs whose line in the table matches this regular expression")
	flag.StringVar(&o.results, "results", "", "write the results into this JSON file")
	flag.StringVar(&o.table, "table", "", "a file with the bugs, instead of mutants.txt")
	flag.BoolVar(&o.prove, "prove", false, "plant only bugs that have a world, and explore that world")
	flag.Parse()
	if err := run(o, suite{packages, nil, timeout}); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// options are the flags that choose bugs, and the file for the results.
type options struct {
	table, only, results string
	prove                bool
}

// suite is the set of tests for a bug: packages, flags for go test, and a time limit for each package.
type suite struct {
	packages, flags []string
	timeout         time.Duration
}

// exploring returns the suite that explores the world of a bug.
func (s suite) exploring(world string) suite {
	s.packages = []string{"./test/virtual/prove"}
	s.flags = append([]string{"-run", "^TestProve$", "-prove", "-prove-time", "30s", "-prove-only", "^(" + world + ")$"}, s.flags...)
	return s
}

func run(o options, tested suite) error {
	mutants, err := readTable(o.table)
	if err != nil {
		return err
	}
	pattern, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(mutants), func(m mutant) bool { return !pattern.MatchString(m.name()) || o.prove && m.world == "" })
	known := &results{file: o.results}
	if o.prove { // make prove itself checks that no world shows a violation without a bug.
		return plantAll(chosen, known, func(m mutant) suite { return tested.exploring(m.world) })
	}
	if failure, err := tested.testAll(""); err != nil || failure != "" {
		return errors.Join(fmt.Errorf("tests fail without any bug: %s", failure), err)
	}
	return plantAll(chosen, known, func(mutant) suite { return tested })
}

// readTable reads a file with bugs, or mutants.txt if it is "".
func readTable(file string) ([]mutant, error) {
	if file == "" {
		return parse(text)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parse(string(data))
}

func plantAll(mutants []mutant, known *results, suiteOf func(mutant) suite) error {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	bad := 0
	for _, m := range mutants {
		verdict, caught := m.plant(dir, suiteOf(m))
		word := "caught"
		if !caught {
			word = "SURVIVED"
			bad++
		}
		fmt.Printf("%-9s %s\n          %s\n", word, m.name(), verdict)
		if err := known.add(result{Bug: m.name(), Caught: caught, By: verdict}); err != nil {
			return err
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d bugs are not caught", bad, len(mutants))
	}
	return nil
}

// plant runs the tests with the bug, and returns the test that failed, if any.
func (m mutant) plant(dir string, tested suite) (verdict string, caught bool) {
	overlay, err := m.overlay(dir)
	if err != nil {
		return err.Error(), false
	}
	if out, err := goTool(context.Background(), "build", "-overlay", overlay, "./pkg/...").CombinedOutput(); err != nil {
		return "it does not compile: " + string(out), false
	}
	failure, err := tested.testAll(overlay)
	switch {
	case err != nil:
		return err.Error(), false
	case failure == "":
		return "all tests pass", false
	}
	return failure, true
}

// testAll tests one package after the other, and returns the first failure.
func (s suite) testAll(overlay string) (failure string, err error) {
	for _, name := range s.packages {
		if failure, err := s.test(overlay, name); failure != "" || err != nil {
			return failure, err
		}
	}
	return "", nil
}

// failed matches the output of go test if a test failed, panicked, or crashed the runtime, but not if the build failed.
var failed = regexp.MustCompile(`(?m)^(--- FAIL|panic|fatal error): `)

// test returns the failed test of a package, and an error if the tests were not completed.
func (s suite) test(overlay, name string) (failure string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*s.timeout)
	defer cancel()
	args := append([]string{"test", "-overlay", overlay, "-count=1", "-failfast", "-timeout", s.timeout.String(), name}, s.flags...)
	out, err := goTool(ctx, args...).CombinedOutput()
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s: go test has not ended after %v", name, 2*s.timeout)
	case !failed.Match(out):
		return "", fmt.Errorf("%s: no test failed: %w: %s", name, err, out)
	}
	return name + ": " + firstFailure(string(out)), nil
}

func goTool(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.WaitDelay = 10 * time.Second // Processes started by go may keep its output open.
	return cmd
}

// firstFailure returns the name of the first test that failed, subtests first.
func firstFailure(out string) string {
	names := regexp.MustCompile(`--- FAIL: (\S+)`).FindAllStringSubmatch(out, -1)
	best := ""
	for _, n := range names {
		if strings.HasPrefix(n[1], best) {
			best = n[1]
		}
	}
	switch {
	case best != "":
		return best
	case strings.Contains(out, "panic: test timed out"):
		return "it never ends"
	case strings.Contains(out, "panic:"):
		return "it panics"
	}
	return "it fails"
}

// overlay writes the file with the bug, and the overlay for the compiler.
func (m mutant) overlay(dir string) (path string, err error) {
	source, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	changed, err := m.apply(string(source))
	if err != nil {
		return "", err
	}
	original, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	copied := filepath.Join(dir, filepath.Base(m.file))
	if err := os.WriteFile(copied, []byte(changed), 0o600); err != nil {
		return "", err
	}
	body, err := json.Marshal(map[string]map[string]string{"Replace": {original: copied}})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, body, 0o600)
}
