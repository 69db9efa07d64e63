package rulename

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// about is the part of a violation that tests check: the rule, and a word or two.
type about struct {
	rule     int
	wantText string
}

// check compares violations with the expected ones, in order.
func check(t *testing.T, what string, got []Violation, want ...about) {
	t.Helper()
	ok := len(got) == len(want)
	for i := 0; ok && i < len(got); i++ {
		ok = got[i].Rule == want[i].rule && strings.Contains(got[i].Problem, want[i].wantText)
	}
	if !ok {
		t.Errorf("%s: violations %v, want %v", what, got, want)
	}
}

type namesCase struct {
	names []string
	want  []about
}

func checkNames(t *testing.T, cases ...namesCase) {
	t.Helper()
	for _, c := range cases {
		got := Validate(c.names)
		check(t, fmt.Sprintf("%.200q", c.names), got, c.want...)
		for _, v := range got {
			assert.Equalf(t, v.Name, c.names[v.Rule], "%q: %v has another name", c.names, v)
		}
	}
}

// Requirements: PFN-16
func TestNamesAreUnique(t *testing.T) {
	checkNames(t,
		namesCase{[]string{"Foo", "Bar", "Foo"}, []about{{2, "rule 0 has the same name"}}},
		namesCase{[]string{"Foo", "Foo", "Foo"}, []about{{1, "rule 0 has"}, {2, "rule 0 has"}}},
		namesCase{[]string{"A", "B", "B", "A"}, []about{{2, "rule 1 has"}, {3, "rule 0 has"}}},
		namesCase{names: []string{"a", "A"}},
		namesCase{names: []string{"", "", "Foo", ""}},
		namesCase{names: []string{"7", "07"}},
		namesCase{},
	)
}

// Requirements: PFN-17
func TestNameIsNoIndexOfAnotherRule(t *testing.T) {
	zeros := strings.Repeat("0", 110)
	checkNames(t,
		namesCase{[]string{"1", "", ""}, []about{{0, "index of rule 1"}}},
		namesCase{[]string{"", "", "0"}, []about{{2, "index of rule 0"}}},
		namesCase{[]string{"02", "", ""}, []about{{0, "index of rule 2"}}},
		namesCase{[]string{"", "00", ""}, []about{{1, "index of rule 0"}}},
		namesCase{[]string{zeros + "1", "", ""}, []about{{0, "index of rule 1"}}},
		namesCase{[]string{"1", "0"}, []about{{0, "index of rule 1"}, {1, "index of rule 0"}}},
		namesCase{names: []string{"", "1", ""}},
		namesCase{names: []string{"000", "01", zeros + "2"}},
		namesCase{names: []string{"3", "", ""}},
		namesCase{names: []string{"03", "", ""}},
		namesCase{names: []string{"99999999999999999999", "", ""}},
		// 2^32+1 and 2^64+1 would be 1 after an overflow.
		namesCase{names: []string{"4294967297", "18446744073709551617", ""}},
		namesCase{names: []string{"1a", "0x2", "1_0"}},
	)
}

// Requirements: PFN-18
func TestIllegalCharactersAreReported(t *testing.T) {
	const notAllowed, atTheEnd = "is not allowed, only", "is not allowed at the end"
	for name, wantText := range map[string]string{
		"ExitCode2": "", "2fast": "", "a,b:c": "", "_": "", ",a": "", ":a": "", "a_": "", "_,:_": "", "x": "", "9": "",
		"exit-2": `'-' ` + notAllowed, "a b": `' ' ` + notAllowed, " a": notAllowed, "a\n": `'\n' ` + notAllowed,
		"a.b": notAllowed, "a;b": notAllowed, "a=b": notAllowed, "é": `'\u00e9' ` + notAllowed, "Еxit": `'\u0415' ` + notAllowed,
		"a\x00": notAllowed, "\xff": notAllowed, "٣": notAllowed,
		"x:": `':' ` + atTheEnd, "x,": `',' ` + atTheEnd, ":": atTheEnd, ",": atTheEnd,
	} {
		var want []about
		if wantText != "" {
			want = []about{{0, wantText}}
		}
		checkNames(t, namesCase{[]string{name}, want})
	}
}

// conditionReason is the pattern of metav1.Condition.reason.
var conditionReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// All names of two characters, one of them any byte, checked against the pattern itself.
// Requirements: PFN-18
func TestCharactersAgreeWithThePattern(t *testing.T) {
	for c := range 256 {
		for _, d := range []string{"", "a", "0", "_", ",", ":", "-", "\n", "é"} {
			b := string([]byte{byte(c)})
			for _, name := range []string{b + d, d + b} {
				want := conditionReason.MatchString(Reason(name, 0))
				assert.Equalf(t, badCharacter(name) == "" && badEnd(name) == "", want, "%q is legal", name)
			}
		}
	}
}

// Requirements: PFN-19
func TestNameOf112CharactersIsTooLong(t *testing.T) {
	long := strings.Repeat("x", 112)
	checkNames(t,
		namesCase{names: []string{long[:111], "B"}},
		namesCase{[]string{"A", long}, []about{{1, "112 bytes long, but at most 111"}}},
	)
}

// Requirements: PFN-20
func TestInternalReasonsAreNoNames(t *testing.T) {
	for _, reason := range internalReasons() {
		checkNames(t,
			namesCase{[]string{"A", reason}, []about{{1, reason}}},
			namesCase{names: []string{strings.ToLower(reason)}},
			namesCase{names: []string{reason + "2"}},
			namesCase{names: []string{ReasonPrefix + reason}},
		)
	}
}

// The list must have every reason in the API package, so that a reason added by a new version is noticed: the test
// reads the sources of that version.
// Requirements: PFN-20
func TestInternalReasonsIncludeThoseOfTheAPI(t *testing.T) {
	found := apiReasons(t)
	if len(found) < 7 || !slices.Contains(found, "BackoffLimitExceeded") {
		t.Fatalf("k8s.io/api/batch/v1 has the reasons %q; how are they declared now?", found)
	}
	listed := internalReasons()
	for _, reason := range found {
		if !slices.Contains(listed[:], reason) {
			t.Errorf("k8s.io/api/batch/v1 has the reason %s: add it to internalReasons and to config/admission", reason)
		}
	}
}

// apiReasons returns the values of the constants JobReason* of k8s.io/api/batch/v1.
func apiReasons(t *testing.T) []string {
	t.Helper()
	pkg, err := build.Import("k8s.io/api/batch/v1", ".", 0)
	assert.NoError(t, err, "looking for the sources")
	var reasons []string
	for _, name := range pkg.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(pkg.Dir, name), nil, parser.SkipObjectResolution)
		assert.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if ok && strings.HasPrefix(spec.Names[0].Name, "JobReason") {
				reasons = append(reasons, stringOf(t, spec))
			}
			return true
		})
	}
	return reasons
}

func stringOf(t *testing.T, spec *ast.ValueSpec) string {
	t.Helper()
	if len(spec.Names) != 1 || len(spec.Values) != 1 {
		t.Fatalf("%s is not declared alone", spec.Names[0].Name)
	}
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok {
		t.Fatalf("%s is not a literal", spec.Names[0].Name)
	}
	value, err := strconv.Unquote(literal.Value)
	assert.NoError(t, err, spec.Names[0].Name)
	return value
}

// The admission policy cannot import the list; it has a copy.
// Requirements: PFN-20
func TestPolicyHasTheSameInternalReasons(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "admission", "rule-names", "rule-names.yaml"))
	assert.NoError(t, err)
	_, list, _ := strings.Cut(string(text), "- name: internal\n")
	list, _, _ = strings.Cut(list, "]")
	var copied []string
	for _, quoted := range regexp.MustCompile(`"[^"]*"`).FindAllString(list, -1) {
		copied = append(copied, strings.Trim(quoted, `"`))
	}
	if listed := internalReasons(); !slices.Equal(copied, listed[:]) {
		t.Errorf("config/admission/rule-names has %q, this package %q", copied, listed)
	}
}

// Requirements: PFN-21
func TestCamelCaseIsALint(t *testing.T) {
	for _, name := range []string{"exit_code_2", "exitCode", "2fast", "A_B", "A,B", "A:B", "_", "0"} {
		if Lint(name) == "" {
			t.Errorf("no warning about %q", name)
		}
		checkNames(t, namesCase{names: []string{name}})
	}
	for _, name := range []string{"ExitCode2", "OOMKilled", "A", "X9", "Z", ""} {
		assert.Equal(t, Lint(name), "", name)
	}
	if warning := Lint(strings.Repeat("é\n", 500)); !isPrintable(warning) || len(warning) > 600 {
		t.Errorf("not a safe line: %q", warning)
	}
}

// All violations are returned, always in the same order.
func TestAllViolationsAreReportedInOrder(t *testing.T) {
	long := strings.Repeat("x", 112) + ":"
	names := []string{"1", "a-b", "a-b", long, "FailedIndexes", "Fine", ""}
	want := []about{
		{0, "index of rule 1"}, {1, "'-'"}, {2, "rule 1 has the same name"}, {2, "'-'"},
		{3, "at the end"}, {3, "113 bytes"}, {4, "FailedIndexes"},
	}
	for range 10 {
		checkNames(t, namesCase{names, want})
	}
}
