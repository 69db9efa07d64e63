package junit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/product/junitcheck"
)

// write returns the text of a report, after checking that the dialect allows it.
func write(t *testing.T, suites ...Suite) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.xml")
	file, err := Create(path)
	assert.NoError(t, err)
	defer file.Discard()
	if _, err := os.Stat(path); err == nil {
		t.Error("the report is there before it is complete")
	}
	assert.NoError(t, file.Write(suites))
	data, err := os.ReadFile(path)
	assert.NoError(t, err)
	assert.NoError(t, junitcheck.Check(strings.NewReader(string(data))), data)
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("%v is left", entries)
	}
	return string(data)
}

// Requirements: RUN-12
func TestReportsAreOfTheDialect(t *testing.T) {
	got := write(t, Suite{Name: "train", Time: Seconds(90 * time.Second), Timestamp: "2026-03-01T12:00:00", Cases: []Case{
		{Class: "train", Name: "index 0", Time: Seconds(1500 * time.Millisecond), Output: "Failed in train: x"},
		{Class: "train", Name: "index 1", Failure: &Problem{Type: "OOMKilled", Message: `a "b" <c>`, Text: "line\nline"}},
		{Class: "train", Name: "index 2", Error: &Problem{Type: "Timeout", Message: "late"}},
		{Class: "train", Name: "index 3", Skipped: &Skipped{Message: "did not run"}},
	}}, Suite{Name: "empty"})
	const want = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" errors="1" time="90.000">
  <testsuite name="train" tests="4" failures="1" errors="1" skipped="1" time="90.000" timestamp="2026-03-01T12:00:00">
    <testcase name="index 0" classname="train" time="1.500">
      <system-out>Failed in train: x</system-out>
    </testcase>
    <testcase name="index 1" classname="train" time="0.000">
      <failure type="OOMKilled" message="a &#34;b&#34; &lt;c&gt;">line&#xA;line</failure>
    </testcase>
    <testcase name="index 2" classname="train" time="0.000">
      <error type="Timeout" message="late"></error>
    </testcase>
    <testcase name="index 3" classname="train" time="0.000">
      <skipped message="did not run"></skipped>
    </testcase>
  </testsuite>
  <testsuite name="empty" tests="0" failures="0" errors="0" skipped="0" time="0.000"></testsuite>
</testsuites>`
	assert.Equal(t, got, want)
}

// The report is valid XML whatever a container writes.
// Requirements: RUN-12
func TestTextIsValidXML(t *testing.T) {
	hostile := "\x00\x1b[31m\xff\xfe\ufffe]]> & \r\n\t" + string(rune(0xd7ff)) + "🙂"
	write(t, Suite{Name: hostile, Cases: []Case{{Class: hostile, Name: hostile, Output: hostile}, {Failure: &Problem{Type: hostile, Message: hostile, Text: hostile}}, {Name: "x", Skipped: &Skipped{Message: hostile}}}})
}

// A report that cannot be written is detected before anything else happens.
// Requirements: RUN-12
func TestPathsThatCannotBeWritten(t *testing.T) {
	folder := t.TempDir()
	for _, path := range []string{folder, filepath.Join(folder, "none", "r.xml"), "/dev/null"} {
		if _, err := Create(path); err == nil {
			t.Errorf("%s can be written", path)
		}
	}
	file, err := Create(filepath.Join(folder, "r.xml"))
	assert.NoError(t, err)
	file.Discard()
	if entries, _ := os.ReadDir(folder); len(entries) != 0 {
		t.Errorf("%v is left", entries)
	}
}

// Requirements: RUN-12
func TestTheCheckIsStrict(t *testing.T) {
	good := write(t, Suite{Name: "s", Cases: []Case{{Class: "c", Name: "n", Failure: &Problem{}, Output: "x"}}})
	for _, bad := range [][2]string{
		{`tests="1"`, `tests="2"`},
		{`time="0.000"`, `time="1s"`},
		{` classname="c"`, ""},
		{"<failure", "<failure x=\"1\""},
		{"<system-out>x</system-out>", "<properties></properties>"},
		{"</failure>", "</failure><error type=\"\" message=\"\"></error>"},
		{"x</system-out>", "x"},
		{"</testcase>", "x</testcase>"},
	} {
		broken := strings.Replace(good, bad[0], bad[1], 1)
		if broken == good || junitcheck.Check(strings.NewReader(broken)) == nil {
			t.Errorf("%q in place of %q is allowed", bad[1], bad[0])
		}
	}
}
