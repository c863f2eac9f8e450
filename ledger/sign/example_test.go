package sign_test

import (
	"fmt"

	"ludger/ledger/sign"
)

func Example() {
	agent := sign.DeriveKey([]byte("sixteen bytes or more that nobody can guess"), "agent/alice")
	msg := sign.MoveMessage("match 7", 0, [32]byte{})
	sig := agent.Sign(msg)

	v, err := sign.NewVerifier(agent.Public())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Verify(msg, sig))
	fmt.Println(v.Verify(sign.MoveMessage("match 8", 0, [32]byte{}), sig))

	_, err = sign.NewVerifier(sign.PublicKey{1})
	fmt.Println(err)
	// Output:
	// true
	// false
	// public key 0100000000000000000000000000000000000000000000000000000000000000 is a point of small order, for which anyone can sign
}
