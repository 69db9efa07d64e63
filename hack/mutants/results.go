package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// result is the result of testing one bug.
type result struct {
	Bug    string `json:"bug"`
	Caught bool   `json:"caught"`
	// By is the package and the test that failed first, or the reason why no test failed.
	By string `json:"by"`
}

// finder returns the package and the test that caught the bug.
func (r result) finder() (pkg, test string) {
	pkg, test, _ = strings.Cut(r.By, ": ")
	return strings.TrimSuffix(strings.TrimPrefix(pkg, "./"), "/..."), test
}

// resultOf returns the result of a bug, if it was planted.
func resultOf(bug string, list []result) (_ result, planted bool) {
	at := slices.IndexFunc(list, func(r result) bool { return r.Bug == bug })
	if at < 0 {
		return result{}, false
	}
	return list[at], true
}

// results are kept in a file, so that an interrupted run can be continued. Without a file, they are not saved.
type results struct {
	file string
	list []result
}

// readResults reads the results of an earlier run, if there was one.
func readResults(file string) (*results, error) {
	r := &results{file: file}
	if file == "" {
		return r, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	return r, json.Unmarshal(text, &r.list)
}

func (r *results) has(bug string) bool {
	_, planted := resultOf(bug, r.list)
	return planted
}

// keep removes the results of bugs that are no longer in the table.
func (r *results) keep(mutants []mutant) {
	r.list = slices.DeleteFunc(r.list, func(known result) bool {
		return !slices.ContainsFunc(mutants, func(m mutant) bool { return m.name() == known.Bug })
	})
}

func (r *results) add(one result) error {
	r.list = append(r.list, one)
	if r.file == "" {
		return nil
	}
	text, err := json.MarshalIndent(r.list, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(r.file, append(text, '\n'), 0o600)
}
