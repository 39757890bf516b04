/** The customers of a made-up shop: their orders as a JSON database, and one request of each. Everything is drawn from a seed. */

import { Rng } from 'turnwise';

export interface Order {
  readonly item: string;
  readonly price: number;
  readonly status: 'packed' | 'shipped' | 'delivered';
  /** Since it was packed, shipped or delivered. */
  readonly days: number;
  readonly address: string;
  readonly refunded: boolean;
}

/** Plain JSON. */
export interface Database {
  /** The numbers of their orders, by name. */
  readonly customers: Readonly<Record<string, readonly string[]>>;
  /** By number. */
  readonly orders: Readonly<Record<string, Order>>;
  /** Requests as they were filed. */
  readonly cases: readonly { readonly customer: string; readonly kind: string }[];
  /** Handed over to a colleague. */
  readonly escalations: readonly { readonly order: string; readonly reason: string }[];
}

export const KINDS = ['refund', 'address'] as const;

/** A task: what a customer wants, and what is known of it. */
export interface Request {
  readonly customer: string;
  readonly kind: (typeof KINDS)[number];
  /** The number of the order that it is about, and what was ordered. */
  readonly order: string;
  readonly item: string;
  /** What the customer thinks it might be: two items where it is not sure. */
  readonly items: readonly string[];
  /** Where the order is to go, if that is to change. */
  readonly address: string;
  /** The customer's first words. */
  readonly opening: string;
}

const list = (words: string): readonly string[] => words.split(' ');
const FIRST = list(
  'ada ben cleo dan eva finn gina hugo ida jack kara leo mia nora otto pia quin rosa sam tess ' +
    'amir bella carl dora emil fay gus hana ivan june kai lena max nils olga paul ruth sven uma vera',
);
const LAST = list(
  'abel brandt costa dietz elms frost grant hale ito jansen klein lund meyer novak ortiz park quist rossi stone toft ' +
    'adler berg cruz doyle engel farr gallo hess ivers jung kruse lang moss nash olsen perry reyes sato thorn vogt',
);
const MIDDLE = list('a b c d');
const ITEMS = list('kettle lamp radio toaster chair clock heater camera printer guitar');
const STREETS = list(
  'oak elm river station church park mill garden birch canal harbor castle abbey meadow bridge forest',
);
const PRICES = [15, 40, 90, 120, 240, 500];
const DAYS = [3, 12, 28, 35, 60, 90];

const CUSTOMERS = 6000;
/** The share of customers with two orders, of which only one can be meant. */
const TWO_ORDERS = 0.2;
const FIRST_NUMBER = 1001;

const rng = Rng.of('support desk');
const names = rng
  .shuffle(
    FIRST.flatMap((first) => MIDDLE.flatMap((middle) => LAST.map((last) => `${first} ${middle} ${last}`))),
  )
  .slice(0, CUSTOMERS);

/** How an order may stand for each kind of request: each is equally likely, and calls for something else. */
const SITUATIONS: readonly (readonly [Request['kind'], Order['status'], (order: Order) => boolean])[] = [
  ['refund', 'delivered', ({ days, price }) => days <= 30 && price <= 100],
  ['refund', 'delivered', ({ days }) => days > 30],
  ['refund', 'delivered', ({ days, price }) => days <= 30 && price > 100],
  ['address', 'packed', () => true],
  ['address', 'shipped', () => true],
];

/** Of an order that a request of this kind cannot be about. */
const OTHER_STATUS = { refund: ['packed', 'shipped'], address: ['delivered'] } as const;

const OPENINGS: Readonly<Record<Request['kind'], readonly string[]>> = {
  refund: ['what you sent me is broken', 'what i bought does not work', 'i want my money back'],
  address: ['i have moved and wait for a parcel', 'please send my parcel elsewhere'],
};

const addressFrom = (): string => `${rng.pick(STREETS)} road`;
const orderOf = (item: string, status: Order['status']): Order => ({
  item,
  price: rng.pick(PRICES),
  status,
  days: rng.pick(DAYS),
  address: addressFrom(),
  refunded: false,
});

const customers: Record<string, string[]> = {};
const orders: Record<string, Order> = {};

function enter(customer: string, order: Order): string {
  const number = String(FIRST_NUMBER + Object.keys(orders).length);
  orders[number] = order;
  customers[customer] = [...(customers[customer] ?? []), number];
  return number;
}

const requests: readonly Request[] = names.map((customer, index) => {
  const [kind, status, fits] = SITUATIONS[index % SITUATIONS.length]!;
  const [item, otherItem] = rng.shuffle(ITEMS) as [string, string];
  let about = orderOf(item, status);
  while (!fits(about)) about = orderOf(item, status);
  const order = enter(customer, about);
  const items = [item];
  if (rng.chance(TWO_ORDERS)) {
    enter(customer, orderOf(otherItem, rng.pick(OTHER_STATUS[kind])));
    items.push(otherItem);
  }
  const shuffled = rng.shuffle(items);
  const opening = `hello i am ${customer} ${rng.pick(OPENINGS[kind])}`;
  return {
    customer,
    kind,
    order,
    item,
    items: shuffled,
    address: addressFrom(),
    opening: rng.chance(0.5) ? opening : `${opening} ${itemsText(shuffled)}`,
  };
});

/** How customers say what it is about. */
export function itemsText(items: readonly string[]): string {
  return `it is the ${items.join(' or the ')}`;
}

/** As the shop's database stands before any request. */
export const shop: Database = { customers, orders, cases: [], escalations: [] };

/** 5,840 customers to train on, 40 to choose by, 120 that are held out. */
export function requestsOf(split: 'train' | 'validation' | 'test'): readonly Request[] {
  const [from, to] = { train: [0, 5840], validation: [5840, 5880], test: [5880, CUSTOMERS] }[split] as [
    number,
    number,
  ];
  return requests.slice(from, to);
}
