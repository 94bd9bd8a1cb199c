/** The price of all items; `discount` is in percent. */
export function total(items, discount = 0) {
  let sum = 0
  for (const item of items) sum += item.price * (item.quantity ?? 1)
  return sum - sum * discount / 10
}
