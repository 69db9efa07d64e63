package meaning

import "testing"

// Requirements: CLI-14
func TestLastLineIsTheLastThatMaySayWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"plain":         {[]string{"start", "cannot open data.csv", ""}, "cannot open data.csv"},
		"a traced exit": {[]string{"+ helm install", "release is in the state failed", "+ exit 1"}, "release is in the state failed"},
		"make":          {[]string{"no rule to make target x", "exit status 2"}, "no rule to make target x"},
		"Java":          {[]string{"java.lang.IllegalStateException: no port", "\tat a.b.C(D.java:7)", "\t... 12 more"}, "java.lang.IllegalStateException: no port"},
		"logfmt":        {[]string{`time="2024-08-20T07:42:07Z" level=fatal msg="cannot uninstall: \"confirm\" is false" error="denied"`}, `cannot uninstall: "confirm" is false: denied`},
		"JSON":          {[]string{`{"level":"error","ts":1.5,"msg":"no shard","error":"peer 4 is gone"}`}, "no shard: peer 4 is gone"},
		"a time":        {[]string{"2026-01-02T03:04:05.678Z cannot open data.csv"}, "cannot open data.csv"},
		"broken JSON":   {[]string{`{"level":`}, `{"level":`},
		"Japanese":      {[]string{"設定ファイルが見つかりません", "+ exit 1"}, "設定ファイルが見つかりません"},
		"nothing":       {[]string{"", "+ exit 1", "---"}, ""},
	} {
		if got := LastLine(c.lines); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
