package rulename

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

type valueCase struct {
	value string
	rules int
	names Names
}

// Requirements: PFN-23, PFN-24
func TestFormattedNamesAreParsedBack(t *testing.T) {
	longest := make(Names, MaxRules)
	for i := range longest {
		longest[i] = fmt.Sprintf("%0*d", MaxLen, i)
	}
	for _, c := range []valueCase{
		{"", 0, nil},
		{"", 3, nil},
		{"0=ExitCode2;2=OOMKilled", 3, Names{"ExitCode2", "", "OOMKilled"}},
		{"1=a,b:c", 2, Names{"", "a,b:c"}},
		{"0=,a;1=:b;2=_", 3, Names{",a", ":b", "_"}},
		{"0=0;1=1;2=99999999999999999999", 3, Names{"0", "1", "99999999999999999999"}},
		{"9=J;10=K;19=T", 20, append(append(make(Names, 9), "J", "K"), append(make(Names, 8), "T")...)},
		{Format(longest), MaxRules, longest},
	} {
		got, violations := Parse(c.value, c.rules)
		check(t, c.value, violations)
		assert.SlicesEqual(t, got, c.names, c.value, "names")
		assert.Equalf(t, Format(c.names), c.value, "%q makes", c.names)
	}
	if size := len(Format(longest)); size > MaxSize {
		t.Errorf("20 names of 111 bytes make a value of %d bytes, more than MaxSize", size)
	}
}

// Values that Format does not write.
// Requirements: PFN-22, PFN-24
func TestOtherFormsOfAValueAreParsed(t *testing.T) {
	for _, c := range []valueCase{
		{"2=C;0=A", 3, Names{"A", "", "C"}},
		{"0=", 1, nil},
		{"0=;1=", 2, nil},
		{"0=;1=B", 2, Names{"", "B"}},
	} {
		got, violations := Parse(c.value, c.rules)
		check(t, c.value, violations)
		assert.SlicesEqual(t, got, c.names, c.value, "names")
	}
}

// Requirements: PFN-24
func TestMalformedEntriesAreReported(t *testing.T) {
	const form, index, none, again = "not index=name", "is not an index", "no such rule", "already has an entry"
	for _, c := range []struct {
		value string
		want  []about
	}{
		{";", []about{{-1, form}, {-1, form}}},
		{"0=A;", []about{{-1, `entry "": not`}}},
		{";0=A", []about{{-1, form}}},
		{"0=A;;1=B", []about{{-1, form}}},
		{"A", []about{{-1, form}}},
		{"0", []about{{-1, form}}},
		{"0:A", []about{{-1, form}}},
		{"0=A,1=B", []about{{0, "'='"}}},
		{"0==A", []about{{0, "'='"}}},
		{"=A", []about{{-1, index}}},
		{"=", []about{{-1, index}}},
		{"A=0", []about{{-1, index}}},
		{"00=A", []about{{-1, index}}},
		{"01=A", []about{{-1, index}}},
		{"+0=A", []about{{-1, index}}},
		{"-1=A", []about{{-1, index}}},
		{"0x1=A", []about{{-1, index}}},
		{"1.0=A", []about{{-1, index}}},
		{"1e0=A", []about{{-1, index}}},
		{"٣=A", []about{{-1, index}}},
		{" 0=A", []about{{-1, index}}},
		{"0 =A", []about{{-1, index}}},
		{"0=A; 1=B", []about{{-1, index}}},
		{"0= A", []about{{0, "' '"}}},
		{"0=A ;1=B", []about{{0, "' '"}}},
		{"0=A\n", []about{{0, `'\n'`}}},
		{"0=\"A\"", []about{{0, "only letters"}}},
		{`{"0":"A"}`, []about{{-1, form}}},
		{"3=A", []about{{-1, `entry "3=A": no such rule; the Job has 3`}}},
		{"3=", []about{{-1, none}}},
		{"99999999999999999999=A", []about{{-1, none}}},
		{"4294967296=A", []about{{-1, none}}},
		{"0=A;0=B", []about{{-1, again}}},
		{"0=A;0=A", []about{{-1, again}}},
		{"0=;0=A", []about{{-1, again}}},
		// The names of a value that cannot be parsed are not validated.
		{"0=a-b;3=A;x", []about{{-1, none}, {-1, form}}},
		{"0=a-b;1=0;2=a-b", []about{{0, "'-'"}, {1, "index of rule 0"}, {2, "same name"}, {2, "'-'"}}},
	} {
		names, violations := Parse(c.value, 3)
		check(t, c.value, violations, c.want...)
		if names != nil {
			t.Errorf("%q: an invalid value names %q", c.value, names)
		}
	}
	if names, violations := Parse("0=A", 0); names != nil || len(violations) != 1 {
		t.Errorf("a name without a rule: %q and %v", names, violations)
	}
	if names, violations := Parse("0=A", -1); names != nil || len(violations) != 1 {
		t.Errorf("a name and -1 rules: %q and %v", names, violations)
	}
}

// Requirements: PFN-29
func TestTooLongValueIsNotParsed(t *testing.T) {
	full := "0=" + strings.Repeat("x", MaxSize-2)
	for _, c := range []struct {
		value string
		want  about
	}{
		{strings.Repeat("0=A;", 768), about{-1, "3072 bytes long, but at most 2299"}},
		{full + "x", about{-1, "2300 bytes long"}},
		{full, about{0, "2297 bytes long, but at most 111"}},
		// 2299 characters, but more bytes.
		{"0=" + strings.Repeat("é", MaxSize-2), about{-1, "bytes long, but at most 2299"}},
		{strings.Repeat(";", 20), about{-1, "21 entries, but at most 20"}},
		{strings.Repeat(";", MaxSize), about{-1, "2300 entries"}},
	} {
		names, violations := Parse(c.value, MaxRules)
		check(t, fmt.Sprintf("%.20q and so on", c.value), violations, c.want)
		if names != nil {
			t.Errorf("%.20q and so on: an invalid value names %q", c.value, names)
		}
	}
	// The size is checked before parsing: no memory is allocated for any of the 200,000 entries.
	huge := strings.Repeat(";", 200_000)
	measure.CheckAllocations(t, 10, func() { Parse(huge, MaxRules) })
}

// Requirements: PFN-28
func TestNativeNamesWinOverTheAnnotation(t *testing.T) {
	const invalid = "0=a-b"
	for _, c := range []struct {
		what       string
		native     []string
		annotation string
		names      Names
		want       []about
	}{
		{"nothing", nil, "", nil, nil},
		{"annotation", nil, "0=A;2=C", Names{"A", "", "C"}, nil},
		{"native", []string{"N", "", "P"}, "", Names{"N", "", "P"}, nil},
		{"native, unnamed", []string{"", "", ""}, "", nil, nil},
		{"native wins rule by rule", []string{"N", "", ""}, "0=A;1=B", Names{"N", "B", ""}, nil},
		{"native is the name that the annotation has elsewhere", []string{"A", "", ""}, "1=A", Names{"A", "", ""}, []about{{1, "rule 0 has the same name"}}},
		{"native wins over the duplicate", []string{"N", "", ""}, "0=A;1=N", Names{"N", "", ""}, []about{{1, "rule 0 has"}}},
		{"native, duplicate of an earlier one", []string{"", "B", ""}, "0=B", Names{"", "B", ""}, []about{{1, "rule 0 has"}}},
		{"native replaces the duplicate", []string{"", "", "C"}, "1=B;2=X", Names{"", "B", "C"}, nil},
		{"invalid annotation", nil, invalid, nil, []about{{0, "'-'"}}},
		{"invalid annotation, native stays", []string{"", "N", ""}, invalid, Names{"", "N", ""}, []about{{0, "'-'"}}},
		{"invalid where native wins", []string{"N", "", ""}, invalid, Names{"N", "", ""}, []about{{0, "'-'"}}},
		{"native shorter than rules", []string{"N"}, "2=C", Names{"N", "", "C"}, nil},
		{"native longer than rules, alone", []string{"N", "", "", "Q"}, "", Names{"N", "", ""}, nil},
		{"native longer than rules", []string{"N", "", "", "Q"}, "2=C", Names{"N", "", "C"}, nil},
		{"native is not ours to judge", []string{"n-1", "n-1", ""}, "2=C", Names{"n-1", "n-1", "C"}, nil},
	} {
		native := slices.Clone(c.native)
		names, violations := Resolve(c.native, c.annotation, 3)
		check(t, c.what, violations, c.want...)
		for rule := range int32(4) {
			assert.Equalf(t, names.Name(rule), c.names.Name(rule), "%s: %q, want %q", c.what, names, c.names)
		}
		assert.SlicesEqual(t, c.native, native, c.what, "the native names were changed")
	}
}

// Requirements: PFN-12
func TestNamesWithoutRulesMeanNothing(t *testing.T) {
	for _, annotation := range []string{"", "0=A", "a-b", strings.Repeat("x", 5000)} {
		names, violations := Resolve([]string{"N"}, annotation, 0)
		if names != nil || violations != nil {
			t.Errorf("%.10q: %q and %v", annotation, names, violations)
		}
	}
}

func TestNoNamesCostNothing(t *testing.T) {
	native := make([]string, 3)
	for what, resolve := range map[string]func(){
		"nothing":         func() { Resolve(nil, "", 3) },
		"unnamed, native": func() { Resolve(native, "", 3) },
	} {
		t.Run(what, func(t *testing.T) { measure.CheckAllocations(t, 0, resolve) })
	}
}

// FuzzParse checks, for any text (PFN-24), that Parse does not panic, that names it accepts are valid and survive
// Format, and that it reports a printable reason for a text it rejects. Taken as names instead, the text survives
// Format and Parse if the names are valid.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "0=ExitCode2;2=OOMKilled", "2=C;0=A", "0=;1=B", "0=a,b:c", "0=1;1=0", "0=01", "19=T", ";;", "0==", "0=A;0=B",
		"A;B;;C", "a,b:c;;_", "PodFailurePolicy", "3;4;5", "+1=A", "0=\xff", strings.Repeat("0", 200),
	} {
		f.Add(seed, uint8(3))
		f.Add(seed, uint8(20))
	}
	f.Fuzz(func(t *testing.T, text string, rules uint8) {
		names, violations := Parse(text, int(rules))
		fuzzParsed(t, names, violations, int(rules))
		survives(t, names, int(rules))
		if list := strings.Split(text, ";"); len(list) <= MaxRules && len(Validate(list)) == 0 {
			survives(t, list, len(list))
		}
	})
}

func fuzzParsed(t *testing.T, names Names, violations []Violation, rules int) {
	t.Helper()
	if names != nil && (len(violations) != 0 || len(names) != rules || len(Validate(names)) != 0) {
		t.Fatalf("took %q for %d rules, with violations %v", names, rules, violations)
	}
	if len(violations) > 5*MaxRules {
		t.Fatalf("%d violations", len(violations))
	}
	for _, v := range violations {
		if v.Rule < -1 || v.Rule >= rules || v.Problem == "" || !isPrintable(v.String()) || len(v.String()) > 1000 {
			t.Fatalf("cannot show %+v", v)
		}
	}
}

// survives checks that valid names are unchanged by a round trip through the annotation.
func survives(t *testing.T, names Names, rules int) {
	t.Helper()
	value := Format(names)
	again, violations := Parse(value, rules)
	if len(violations) != 0 || len(value) > MaxSize {
		t.Fatalf("%q makes %q: %v", names, value, violations)
	}
	for rule := range int32(rules) {
		if again.Name(rule) != names.Name(rule) {
			t.Fatalf("%q came back as %q", names, again)
		}
		if name := names.Name(rule); !conditionReason.MatchString(Reason(name, rule)) || len(Reason(name, rule)) > conditionReasonLimit {
			t.Fatalf("%q is not a condition reason", Reason(name, rule))
		}
	}
}
