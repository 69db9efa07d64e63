//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestAuditOfEverybodyLogsWritesOnce(t *testing.T) {
	rules := auditRules(everybody)
	if text := fmt.Sprint(rules); strings.Contains(text, "users:") || !strings.Contains(text, "omitStages:[RequestReceived]") {
		t.Errorf("not the calls of all users, each once: %s", text)
	}
	if last := rules[len(rules)-1]; last["level"] != "None" {
		t.Errorf("all other calls are logged, too: %v", last)
	}
	if text := fmt.Sprint(auditRules("someone")); !strings.Contains(text, "users:[someone]") {
		t.Errorf("the rules for a user do not name the user: %s", text)
	}
}
