// Package junit writes test reports in the part of the JUnit XML dialect that GitHub's actions, GitLab and Jenkins all read.
package junit

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Suite is a group of test cases. Write sets its counts.
type Suite struct {
	Name      string  `xml:"name,attr"`
	Tests     int     `xml:"tests,attr"`
	Failures  int     `xml:"failures,attr"`
	Errors    int     `xml:"errors,attr"`
	Skipped   int     `xml:"skipped,attr"`
	Time      Seconds `xml:"time,attr"`
	Timestamp string  `xml:"timestamp,attr,omitempty"` // in UTC, without a time zone
	Cases     []Case  `xml:"testcase"`
}

// Case is a test case. At most one of Skipped, Error and Failure is set; if none is, the test case has passed.
type Case struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	Time    Seconds  `xml:"time,attr"`
	Skipped *Skipped `xml:"skipped"` // it was not tested
	Error   *Problem `xml:"error"`   // it could not be completed
	Failure *Problem `xml:"failure"` // the test case has failed
	Output  string   `xml:"system-out,omitempty"`
}

// Problem is the reason why a test case has not passed.
type Problem struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Skipped is the reason why a test case was skipped.
type Skipped struct {
	Message string `xml:"message,attr"`
}

// Seconds is a duration that is formatted in seconds.
type Seconds time.Duration

// MarshalText implements encoding.TextMarshaler.
func (s Seconds) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, max(0, time.Duration(s).Seconds()), 'f', 3, 64), nil
}

// File is a report that appears at its path when it is complete.
type File struct {
	path string
	temp *os.File
}

// Create creates a temporary file next to the report's path, so that an unwritable path is detected early.
func Create(path string) (*File, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, err
	}
	return &File{path: path, temp: temp}, nil
}

// Discard removes the temporary file, if Write has not renamed it.
func (f *File) Discard() {
	_ = f.temp.Close()
	_ = os.Remove(f.temp.Name()) // After Write it no longer exists.
}

// Write writes the report to its path.
func (f *File) Write(suites []Suite) error {
	err := errors.Join(Write(f.temp, suites), f.temp.Chmod(0o644), f.temp.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.temp.Name(), f.path)
}

// Write writes a report to out. Characters that XML cannot represent are replaced.
func Write(out io.Writer, suites []Suite) error {
	_, err := io.WriteString(out, xml.Header)
	encoder := xml.NewEncoder(out)
	encoder.Indent("", "  ")
	all := document{Suites: suites}
	for i := range suites {
		suite := &suites[i]
		suite.Tests = len(suite.Cases)
		for _, c := range suite.Cases {
			switch {
			case c.Failure != nil:
				suite.Failures++
			case c.Error != nil:
				suite.Errors++
			case c.Skipped != nil:
				suite.Skipped++
			}
		}
		all.Tests += suite.Tests
		all.Failures += suite.Failures
		all.Errors += suite.Errors
		all.Time += suite.Time
	}
	return errors.Join(err, encoder.Encode(all))
}

type document struct {
	XMLName  xml.Name `xml:"testsuites"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Time     Seconds  `xml:"time,attr"`
	Suites   []Suite  `xml:"testsuite"`
}
