import assert from 'node:assert/strict'
import { test } from 'node:test'
import { total } from '../src/cart.js'

test('an empty cart costs nothing', () => {
  assert.equal(total([]), 0)
})

test('prices are multiplied by quantities', () => {
  assert.equal(total([{ price: 3, quantity: 2 }, { price: 4 }]), 10)
})

test('a discount of 10 percent takes away a tenth', () => {
  assert.equal(total([{ price: 50, quantity: 2 }], 10), 90)
})
